// An emulator with a scenario and raw sockets to look at what its faults do to bytes and connections.
#ifndef OPENSANDBOX_TESTS_CONFORMANCE_FAULT_WIRE_H_
#define OPENSANDBOX_TESTS_CONFORMANCE_FAULT_WIRE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/service_support.h"

namespace opensandbox::emulator {

// What came over a connection, taken apart.
struct Wire {
  std::string bytes, head, body;  // body: the chunks put together, if it came in chunks
  std::vector<std::string> chunks;
  bool terminated = false;  // the chunk terminator came
  StreamEnd end = StreamEnd::kSilence;
  Duration took{0};  // from the request to the end

  int status() const { return head.size() > 12 ? std::atoi(head.c_str() + 9) : 0; }
};

// The events of an execd stream by their texts, or else their types: "init ping one two execution_complete".
inline std::string EventWords(const std::string& body) {
  std::string words;
  std::size_t at = 0;
  while ((at = body.find("{\"type\":\"", at)) != std::string::npos) {
    const std::size_t end = body.find("\n\n", at);
    const std::string event = body.substr(at, end == std::string::npos ? end : end - at);
    std::string word = event.substr(9, event.find('"', 9) - 9);
    const std::size_t text = event.find("\"text\":\"");
    if (text != std::string::npos && (word == "stdout" || word == "stderr")) {
      word = event.substr(text + 8, event.find('"', text + 8) - text - 8);
    }
    words += (words.empty() ? "" : " ") + word;
    at += 9;
  }
  return words;
}

inline constexpr char kThreeEvents[] = R"({"stdout": "one"}, {"stdout": "two"}, {"stdout": "three"})";

class FaultWire {
 public:
  // `fields` of the scenario; a seed and the execution are there. Code gives `events` behind init and a ping.
  explicit FaultWire(const std::string& fields, const std::string& events = kThreeEvents)
      : emulator_(StartEmulator({.tenants = {{.scenario = ServiceScenario(R"("seed": 7, "execution": [{"events": [)" +
                                                                          events + "]}], " + fields)}},
                                 .clock = clock_})),
        client_(*clock_, emulator_->address()) {}

  ServiceClient& client() { return client_; }
  Emulator& emulator() { return *emulator_; }
  VirtualClock& clock() { return *clock_; }
  int port() const { return PortOf(emulator_->address()); }
  RawClient Connect() { return RawClient(*clock_, port()); }

  // One request over a connection of its own, read until it ends or an hour is silent.
  Wire Send(const std::string& method, const std::string& target, const std::string& body = "",
            const std::string& fields = "Connection: close\r\n") {
    RawClient raw = Connect();
    return SendOver(raw, HttpRequest(method, target, body, fields));
  }
  Wire SendOver(RawClient& raw, const std::string& request) {
    const TimePoint begin = clock_->Now();
    raw.Send(request);
    const Received received = raw.ReadToEnd();
    Wire wire;
    wire.bytes = received.bytes;
    wire.end = received.end;
    wire.took = received.at - begin;
    TakeApart(&wire);
    return wire;
  }
  Wire Get(const std::string& target) { return Send("GET", target); }
  Wire Create() { return Send("POST", "/v1/sandboxes", kCreateBody); }
  // A sandbox, made over a connection of its own.
  std::string NewSandbox() { return client_.Create(); }
  Wire Run(const std::string& id) {
    return Send("POST", client_.ExecdPath(id) + "/code", R"({"code":"x","context":{"language":"python"}})");
  }
  Wire Run() { return Run(NewSandbox()); }

  Verdict Judge() {
    emulator_->Stop(Duration{0});
    Result<Verdict> verdict = emulator_->JudgeTenant("default", {});
    return verdict ? *std::move(verdict) : Verdict{};
  }
  // Requests that no fault is for are answered as ever.
  void ExpectHealthy() {
    const HttpAnswer answer = client_.Send("GET", "/v1/sandboxes?metadata=health%3Dcheck");
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(answer.whole);
  }

 private:
  static void TakeApart(Wire* wire) {
    const std::size_t begin = wire->bytes.find("HTTP/1.1");
    const std::size_t end = wire->bytes.find("\r\n\r\n");
    if (begin == std::string::npos || end == std::string::npos) return;
    wire->head = wire->bytes.substr(begin, end + 4 - begin);
    std::string rest = wire->bytes.substr(end + 4);
    if (wire->head.find("ransfer-encoding: chunked") == std::string::npos &&
        wire->head.find("ransfer-Encoding: chunked") == std::string::npos) {
      wire->body = rest;
      return;
    }
    while (true) {
      const std::size_t line = rest.find("\r\n");
      if (line == std::string::npos) return;
      const std::size_t size = std::strtoul(rest.c_str(), nullptr, 16);
      if (size == 0 && rest[0] == '0') {
        wire->terminated = true;
        return;
      }
      const std::string chunk = rest.substr(line + 2, size);
      wire->chunks.push_back(chunk);
      wire->body += chunk;
      if (rest.size() < line + 2 + size + 2) return;
      rest.erase(0, line + 2 + size + 2);
    }
  }

  const std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  const Participant participant_{*clock_};
  const std::unique_ptr<Emulator> emulator_;
  ServiceClient client_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_CONFORMANCE_FAULT_WIRE_H_

// HTTP over a raw socket against an emulator in this process.
#ifndef OPENSANDBOX_TESTS_E2E_SERVICE_SUPPORT_H_
#define OPENSANDBOX_TESTS_E2E_SERVICE_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/scenario/loader.h"
#include "emulator/service/emulator.h"
#include "opensandbox/base/clock.h"
#include "opensandbox/base/virtual_clock.h"
#include "tests/unit/http/raw_client.h"

namespace opensandbox::emulator {

inline std::shared_ptr<const Scenario> ServiceScenario(std::string_view fields) {
  const LoadedScenario loaded =
      ParseScenario(R"({"schemaVersion": 1, "name": "service", )" + std::string(fields) + "}", "service");
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text();
  return loaded.scenario;
}

inline std::shared_ptr<Clock> SharedSystemClock() { return {std::shared_ptr<Clock>(), &SystemClock::Instance()}; }

inline std::unique_ptr<Emulator> StartEmulator(EmulatorOptions options) {
  Result<std::unique_ptr<Emulator>> emulator = Emulator::Start(std::move(options));
  if (!emulator) {
    ADD_FAILURE() << emulator.error().Describe();
    std::abort();
  }
  return *std::move(emulator);
}

inline int PortOf(const std::string& address) { return std::atoi(address.substr(address.rfind(':') + 1).c_str()); }

struct HttpAnswer {
  int status = 0;  // 0: no head came
  std::string head, body;
  bool whole = false;  // the body came to its proper end
  nlohmann::json Json() const {
    const auto json = nlohmann::json::parse(body, nullptr, false);
    return json.is_discarded() ? nlohmann::json() : json;
  }
};

inline std::string HttpRequest(const std::string& method, const std::string& target, const std::string& body = "",
                               const std::string& fields = "") {
  return method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + fields +
         (body.empty() ? ""
                       : "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n") +
         "\r\n" + body;
}

// A connection that waits on the given clock and reports to it.
class HttpConnection {
 public:
  HttpConnection(Clock& clock, const std::string& address) : raw_(clock, PortOf(address)) {}

  // Head and whole body, by Content-Length or in chunks. A connection that ends early leaves `whole` false.
  HttpAnswer Exchange(const std::string& request) {
    raw_.Send(request);
    HttpAnswer answer = ReadHead();
    if (answer.status == 0) return answer;
    if (answer.head.find("\r\nTransfer-Encoding: chunked") != std::string::npos ||
        answer.head.find("\r\ntransfer-encoding: chunked") != std::string::npos) {
      while (true) {
        const std::string rest = raw_.ReadUntil("\r\n");
        const std::size_t size = std::strtoul(rest.c_str(), nullptr, 16);
        answer.body += raw_.ReadBytes(size);
        if (raw_.ReadBytes(2) != "\r\n") return answer;
        if (size == 0) break;
      }
    } else {
      answer.body = raw_.ReadBytes(LengthOf(answer.head));
    }
    answer.whole = true;
    return answer;
  }
  // Sends a request and reads the head of the answer.
  HttpAnswer Begin(const std::string& request) {
    raw_.Send(request);
    return ReadHead();
  }
  RawClient& raw() { return raw_; }

 private:
  HttpAnswer ReadHead() {
    HttpAnswer answer;
    answer.head = raw_.ReadUntil("\r\n\r\n");
    if (answer.head.size() > 12) answer.status = std::atoi(answer.head.c_str() + 9);
    return answer;
  }
  static std::size_t LengthOf(const std::string& head) {
    for (const char* name : {"\r\ncontent-length: ", "\r\nContent-Length: "}) {
      const std::size_t at = head.find(name);
      if (at != std::string::npos) return std::strtoul(head.c_str() + at + std::string_view(name).size(), nullptr, 10);
    }
    return 0;
  }
  RawClient raw_;
};

inline constexpr char kCreateBody[] =
    R"({"image":{"uri":"python:3.12"},"timeout":60,"entrypoint":["sleep"],"resourceLimits":{}})";

inline std::string KeyField(const std::string& key) {
  return key.empty() ? "" : "OPEN-SANDBOX-API-KEY: " + key + "\r\n";
}

// A client that makes one connection for each request.
class ServiceClient {
 public:
  ServiceClient(Clock& clock, std::string address, std::string key = "")
      : clock_(clock), address_(std::move(address)), key_(std::move(key)) {}

  HttpAnswer Send(const std::string& method, const std::string& target, const std::string& body = "") {
    return HttpConnection(clock_, address_).Exchange(HttpRequest(method, target, body, KeyField(key_)));
  }
  std::string Create() {
    const HttpAnswer answer = Send("POST", "/v1/sandboxes", kCreateBody);
    EXPECT_EQ(answer.status, 202) << answer.body;
    return answer.Json().value("id", "");
  }
  // The path of the sandbox's execd, as its endpoint tells.
  std::string ExecdPath(const std::string& id) {
    const HttpAnswer answer = Send("GET", "/v1/sandboxes/" + id + "/endpoints/44772");
    const std::string endpoint = answer.Json().value("endpoint", "");
    const std::size_t slash = endpoint.find('/');
    EXPECT_NE(slash, std::string::npos) << answer.body;
    return slash == std::string::npos ? "" : endpoint.substr(slash);
  }
  // A run whose stream has begun: its head and the event with `marker` have been read.
  HttpConnection BeginRun(const std::string& id, const std::string& marker) {
    HttpConnection connection(clock_, address_);
    const HttpAnswer head = connection.Begin(
        HttpRequest("POST", ExecdPath(id) + "/code", R"({"code":"x","context":{"language":"python"}})"));
    EXPECT_EQ(head.status, 200) << head.head;
    connection.raw().ReadUntil(marker);
    return connection;
  }

 private:
  Clock& clock_;
  const std::string address_, key_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_E2E_SERVICE_SUPPORT_H_

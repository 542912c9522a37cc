// A server whose handler is the test's, on a clock whose time costs nothing.
#ifndef OPENSANDBOX_TESTS_UNIT_HTTP_TEST_SERVER_H_
#define OPENSANDBOX_TESTS_UNIT_HTTP_TEST_SERVER_H_

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "emulator/http/http_server.h"
#include "opensandbox/base/virtual_clock.h"
#include "raw_client.h"

namespace opensandbox::emulator {

inline ReplyPlan TextPlan(std::string body, int status = 200) {
  ReplyPlan plan;
  plan.status = status;
  plan.headers = {{"Content-Length", std::to_string(body.size())}};
  plan.body = std::move(body);
  return plan;
}

inline std::string TextReply(const std::string& body, const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

inline ReplyPlan StreamPlan(std::unique_ptr<BodySource> source) {
  ReplyPlan plan;
  plan.headers = {{"Content-Type", "text/event-stream"}, {"Transfer-Encoding", "chunked"}};
  plan.chunked = true;
  plan.source = std::move(source);
  return plan;
}

inline const std::string kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

// The given steps one after another, then silence of the source for ever.
class StepSource : public BodySource {
 public:
  struct Log {
    bool client_closed = false;
    TimePoint client_closed_at{};
  };
  explicit StepSource(std::vector<BodyStep> steps, std::shared_ptr<Log> log = nullptr)
      : steps_(std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end())), log_(std::move(log)) {}
  BodyStep Next(TimePoint now, WallTime) override {
    while (!steps_.empty() && steps_.front().kind == BodyStep::Kind::kWait && steps_.front().until &&
           *steps_.front().until <= now) {
      steps_.pop_front();
    }
    if (steps_.empty()) return BodyStep::Wait(std::nullopt);
    if (steps_.front().kind == BodyStep::Kind::kWait) return steps_.front();
    BodyStep step = std::move(steps_.front());
    steps_.pop_front();
    return step;
  }
  void ClientClosed(TimePoint now) override {
    if (log_ == nullptr) return;
    log_->client_closed = true;
    log_->client_closed_at = now;
  }

 private:
  std::deque<BodyStep> steps_;
  std::shared_ptr<Log> log_;
};

struct TestServerOptions {
  HttpServerOptions http;
  HttpServerReplies replies;
  std::function<HttpServer::Handled(const Request&)> handler;  // null: the plans given to Next(), then "ok"
  std::shared_ptr<VirtualClock> clock = std::make_shared<VirtualClock>();
};

// The test's thread is a participant of the clock while it lives.
class TestServer {
 public:
  explicit TestServer(TestServerOptions options = {})
      : clock_(options.clock), me_(*clock_), ended_(clock_->NewWaker()), handler_(std::move(options.handler)) {
    options.http.clock = clock_;
    auto started = HttpServer::Start(
        options.http, [this](const Request& request) { return Handle(request); }, options.replies);
    if (!started) ADD_FAILURE() << started.error().message;
    server_ = std::move(started).value();
  }
  ~TestServer() { server_.reset(); }

  VirtualClock& clock() { return *clock_; }
  HttpServer& http() { return *server_; }
  RawClient Connect() { return RawClient(*clock_, server_->port()); }
  TimePoint At(Duration since_start) const { return TimePoint{} + since_start; }

  // The plan of the next request; its end is kept for WaitForEnd().
  void Next(ReplyPlan plan) {
    plan.on_end = [this](const ExchangeEnd& end) {
      std::lock_guard lock(mutex_);
      ends_.push_back(end);
      ended_->Wake();
    };
    std::lock_guard lock(mutex_);
    plans_.push_back(std::move(plan));
  }

  // Of the exchange that ended first among those not asked for yet.
  ExchangeEnd WaitForEnd() {
    while (true) {
      ended_->Reset();
      {
        std::lock_guard lock(mutex_);
        if (!ends_.empty()) {
          ExchangeEnd end = ends_.front();
          ends_.pop_front();
          return end;
        }
      }
      clock_->Wait({.waker = ended_.get(), .label = "exchange end"});
    }
  }
  bool NoMoreEnds() {
    std::lock_guard lock(mutex_);
    return ends_.empty();
  }

  std::vector<Request> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }

  // Fails the test unless a request on a new connection is answered.
  void ExpectAlive() {
    Next(TextPlan("alive"));
    RawClient client = Connect();
    ASSERT_TRUE(client.Send("GET /alive HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_EQ(client.ReadBytes(TextReply("alive").size()), TextReply("alive"));
    WaitForEnd();
  }

 private:
  HttpServer::Handled Handle(const Request& request) {
    std::unique_lock lock(mutex_);
    requests_.push_back(request);
    if (!plans_.empty()) {
      ReplyPlan plan = std::move(plans_.front());
      plans_.pop_front();
      return {std::move(plan), nullptr};
    }
    lock.unlock();
    if (handler_) return handler_(request);
    return {TextPlan("ok"), nullptr};
  }

  std::shared_ptr<VirtualClock> clock_;
  Participant me_;
  std::shared_ptr<Waker> ended_;
  std::function<HttpServer::Handled(const Request&)> handler_;
  std::mutex mutex_;
  std::deque<ReplyPlan> plans_;
  std::deque<ExchangeEnd> ends_;
  std::vector<Request> requests_;
  std::unique_ptr<HttpServer> server_;
};

inline std::string Get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
}

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_UNIT_HTTP_TEST_SERVER_H_

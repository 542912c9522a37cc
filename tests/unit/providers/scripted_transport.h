// A Transport that plays a script on a virtual clock and records what it was asked.
#ifndef OPENSANDBOX_TESTS_UNIT_PROVIDERS_SCRIPTED_TRANSPORT_H_
#define OPENSANDBOX_TESTS_UNIT_PROVIDERS_SCRIPTED_TRANSPORT_H_

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opensandbox/base/virtual_clock.h"
#include "opensandbox/transport/transport.h"

namespace opensandbox::testing {

struct Piece {
  std::string bytes;
  Duration after{0};
};

struct Exchange {
  enum class End { kClean, kCut, kSilence };
  std::optional<Error> error;  // instead of an answer
  int status = 200;
  std::vector<HeaderField> headers;
  std::vector<Piece> body;
  End end = End::kClean;
  bool head = true;              // false: silence before the head
  std::function<void()> before;  // called when the request has come
};

inline Exchange Reply(int status, std::string body, std::vector<HeaderField> headers = {}) {
  Exchange exchange;
  exchange.status = status;
  exchange.headers = std::move(headers);
  exchange.body = {{std::move(body), Duration{0}}};
  return exchange;
}

inline Exchange LateReply(Duration after, int status, std::string body) {
  Exchange exchange = Reply(status, std::move(body));
  exchange.body[0].after = after;
  return exchange;
}

inline Exchange Fails(ErrorKind kind, Outcome outcome, TimeoutClock timeout_clock = TimeoutClock::kNone) {
  Exchange exchange;
  Error error;
  error.kind = kind;
  error.message = "scripted failure";
  error.outcome = outcome;
  error.timeout_clock = timeout_clock;
  exchange.error = std::move(error);
  return exchange;
}
inline Exchange Refused() { return Fails(ErrorKind::kTransport, Outcome::kDidNotHappen); }
inline Exchange Reset() { return Fails(ErrorKind::kTransport, Outcome::kUnknown); }

inline Exchange NeverAnswers() {
  Exchange exchange;
  exchange.head = false;
  exchange.end = Exchange::End::kSilence;
  return exchange;
}

inline Exchange Streams(std::vector<Piece> pieces, Exchange::End end = Exchange::End::kClean) {
  Exchange exchange;
  exchange.headers = {{"Content-Type", "text/event-stream"}};
  exchange.body = std::move(pieces);
  exchange.end = end;
  return exchange;
}

class ScriptedTransport : public Transport {
 public:
  struct Seen {
    HttpRequest request;
    ExchangeOptions options;
    Duration at{0};  // since the clock's start
    bool streamed = false;
    bool stopped_by_handler = false;
    std::string Line() const { return request.method + " " + request.url; }
  };

  ScriptedTransport() = default;

  ScriptedTransport& Then(Exchange exchange) {
    const std::lock_guard lock(mutex_);
    script_.push_back(std::move(exchange));
    return *this;
  }
  // Answers whatever the script does not.
  void Otherwise(std::function<Exchange(const HttpRequest&)> responder) { responder_ = std::move(responder); }

  std::vector<Seen> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Seen& seen : this->seen()) lines.push_back(seen.Line());
    return lines;
  }
  std::size_t left() const {
    const std::lock_guard lock(mutex_);
    return script_.size();
  }
  VirtualClock& virtual_clock() { return clock_; }
  Clock& clock() override { return clock_; }

  Result<HttpResponse> Send(const HttpRequest& request, const ExchangeOptions& options) override {
    HttpResponse response;
    StreamHandler handler;
    handler.on_headers = [&](int status, const std::vector<HeaderField>& headers) {
      response.status = status;
      response.headers = headers;
      return StreamAction::kContinue;
    };
    handler.on_bytes = [&](std::string_view bytes) {
      response.body += bytes;
      return StreamAction::kContinue;
    };
    Result<StreamEnd> end = Play(request, options, handler, false);
    if (end) return response;
    Error error = std::move(end).error();
    if (error.kind == ErrorKind::kStreamTruncated) error.kind = ErrorKind::kTransport;
    return error;
  }

  Result<StreamEnd> Stream(const HttpRequest& request, const ExchangeOptions& options,
                           const StreamHandler& handler) override {
    return Play(request, options, handler, true);
  }

 private:
  Result<StreamEnd> Play(const HttpRequest& request, const ExchangeOptions& options, const StreamHandler& handler,
                         bool streamed) {
    Exchange exchange;
    std::size_t index = 0;
    {
      const std::lock_guard lock(mutex_);
      index = seen_.size();
      seen_.push_back({request, options, clock_.Elapsed(), streamed, false});
      if (!script_.empty()) {
        exchange = std::move(script_.front());
        script_.pop_front();
      } else if (responder_) {
        exchange = responder_(request);
      } else {
        exchange = Fails(ErrorKind::kTransport, Outcome::kDidNotHappen);
        exchange.error->message = "the script is over";
      }
    }
    if (exchange.before) exchange.before();
    if (exchange.error) return *exchange.error;
    TimePoint last_byte = clock_.Now();
    if (!exchange.head) return *Wait(options, std::nullopt, last_byte);
    // An answer of one late piece is late as a whole.
    if (exchange.body.size() == 1) {
      if (auto error = Wait(options, clock_.Now() + exchange.body[0].after, last_byte)) return *error;
      exchange.body[0].after = Duration{0};
    }
    StreamEnd end{exchange.status, exchange.headers, false};
    if (handler.on_headers(exchange.status, exchange.headers) == StreamAction::kStop) {
      end.stopped_by_handler = true;
      return end;
    }
    last_byte = clock_.Now();
    for (const Piece& piece : exchange.body) {
      if (auto error = Wait(options, clock_.Now() + piece.after, last_byte)) return *error;
      last_byte = clock_.Now();
      if (piece.bytes.empty()) continue;
      if (handler.on_bytes(piece.bytes) == StreamAction::kStop) {
        const std::lock_guard lock(mutex_);
        seen_[index].stopped_by_handler = true;
        end.stopped_by_handler = true;
        return end;
      }
    }
    if (exchange.end == Exchange::End::kSilence) return *Wait(options, std::nullopt, last_byte);
    if (exchange.end == Exchange::End::kCut) {
      Error error;
      error.kind = ErrorKind::kStreamTruncated;
      error.message = "cut";
      error.outcome = Outcome::kUnknown;
      return error;
    }
    return end;
  }

  // Waits until `until` (nullopt: for ever) or until the exchange has to end; an error in the second case.
  std::optional<Error> Wait(const ExchangeOptions& options, std::optional<TimePoint> until, TimePoint last_byte) {
    Error error;
    error.outcome = Outcome::kUnknown;
    error.message = "scripted end";
    const TimePoint deadline = options.deadline.value_or(TimePoint::max());
    const TimePoint idle = options.idle_timeout ? last_byte + *options.idle_timeout : TimePoint::max();
    const TimePoint end = std::min(deadline, idle);
    const std::shared_ptr<Waker> waker = clock_.NewWaker();
    const std::stop_callback on_stop(options.stop, [&waker] { waker->Wake(); });
    WaitRequest wait;
    if (until || end != TimePoint::max()) wait.deadline = std::min(until.value_or(TimePoint::max()), end);
    wait.waker = waker.get();
    wait.label = "scripted exchange";
    clock_.Wait(wait);
    if (options.stop.stop_requested()) {
      error.kind = ErrorKind::kCancelled;
      return error;
    }
    if (until && *until < end) return std::nullopt;
    if (until && *until == end && *until > last_byte) return std::nullopt;  // bytes win over the clock
    error.kind = ErrorKind::kTimeout;
    error.timeout_clock = idle < deadline ? TimeoutClock::kIdle : TimeoutClock::kRequest;
    return error;
  }

  VirtualClock clock_;
  mutable std::mutex mutex_;
  std::deque<Exchange> script_;
  std::vector<Seen> seen_;
  std::function<Exchange(const HttpRequest&)> responder_;
};

// --- answers of a healthy server ------------------------------------------------------------------------------------

inline std::string SandboxJson(const std::string& id, const std::string& state, const std::string& reason = "",
                               const std::string& message = "") {
  return R"({"id":")" + id + R"(","status":{"state":")" + state + R"(","reason":")" + reason + R"(","message":")" +
         message + R"("}})";
}
inline std::string EndpointJson(const std::string& endpoint = "execd.example:44772") {
  return R"({"endpoint":")" + endpoint + R"("})";
}
inline std::string ErrorJson(const std::string& code, const std::string& message) {
  return R"({"code":")" + code + R"(","message":")" + message + R"("})";
}

}  // namespace opensandbox::testing

#endif  // OPENSANDBOX_TESTS_UNIT_PROVIDERS_SCRIPTED_TRANSPORT_H_

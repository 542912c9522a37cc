#include <algorithm>
#include <memory>
#include <utility>

#include "client/providers/opensandbox_provider_impl.h"

namespace opensandbox::internal {
namespace {

constexpr std::size_t kErrorBodyBytesMax = 64 << 10;
// execd may send output, an error or the kernel's status some 200 ms after its completion event. A stream that stays
// open for much longer will not end by itself.
constexpr Duration kLateOutputGrace = std::chrono::seconds(10);
constexpr Duration kInterruptTime = std::chrono::seconds(2);
// Of a cancelled run: the caller wants to be back within 100 ms.
constexpr Duration kInterruptTimeWhenCancelled = std::chrono::milliseconds(60);
constexpr Duration kStateLookTime = std::chrono::seconds(5);
constexpr int kStateLooksMax = 2;

bool IsSuccess(int status) { return status >= 200 && status < 300; }

}  // namespace

struct OpenSandboxProvider::RunAttempt {
  explicit RunAttempt(std::uint64_t output_bytes_max) : parser(output_bytes_max) {}

  int number = 0;
  std::string execd_base;
  std::string url;
  ExecdEventParser parser;
  int status = 0;  // 0: no answer
  std::vector<HeaderField> headers;
  std::string error_body;
  std::optional<TimePoint> completed_at;
  bool stayed_open = false;
  std::optional<Error> error;  // of the transport
};

std::optional<Duration> OpenSandboxProvider::RunDeadlineOf(const RunCodeRequest& request) const {
  return request.run_deadline ? request.run_deadline : options_.run_deadline;
}

std::optional<Duration> OpenSandboxProvider::IdleTimeoutOf(const RunCodeRequest& request) const {
  return request.idle_timeout ? request.idle_timeout : options_.idle_timeout;
}

Result<CodeExecutionResult> OpenSandboxProvider::RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) {
  Result<Target> resolved = Resolve(sandbox, request.api_key, std::nullopt, request.stop);
  if (!resolved) return std::move(resolved).error();
  Target& target = *resolved;
  Result<std::string> body = RunBody(request);
  if (!body) return std::move(body).error();
  if (const auto run_deadline = RunDeadlineOf(request)) target.scope.deadline = clock().Now() + *run_deadline;

  bool endpoint_is_old = !target.handle.execd_endpoint.empty();
  if (!endpoint_is_old) {
    if (Result<void> ready = ResolveExecd(target, StateLook::kAtOnce); !ready) {
      return NotRun(std::move(ready).error(), target.handle.id, request);
    }
  }
  for (int number = 1;; ++number) {
    RunAttempt attempt(request.output_bytes_max.value_or(options_.output_bytes_max));
    attempt.number = number;
    Result<std::string> execd_base =
        ExecdBase(target.handle.execd_endpoint, target.scope.base, options_.allow_insecure_execd);
    if (!execd_base) {
      execd_base.error().sandbox_id = target.handle.id;
      return std::move(execd_base).error();
    }
    attempt.execd_base = *std::move(execd_base);
    StreamRun(attempt, target, request, *body);
    const bool unsent = attempt.error && attempt.status == 0 && attempt.error->outcome == Outcome::kDidNotHappen;
    if (IsSuccess(attempt.status) || (attempt.status == 0 && !unsent)) return Conclude(attempt, target, request);

    // The code did not begin to run, or the server failed before it said so.
    Error error = attempt.status != 0
                      ? ApiError("runCode", attempt.status, attempt.headers, attempt.error_body, attempt.url, clock())
                      : std::move(*attempt.error);
    error.operation = "runCode";
    error.sandbox_id = target.handle.id;
    error.attempts = number;
    NameRunClock(error, target.handle.id, request);
    const bool out_of_time = target.scope.deadline && clock().Now() >= *target.scope.deadline;
    if (error.kind == ErrorKind::kCancelled) return error;
    if (endpoint_is_old && !out_of_time && (unsent || error.http_status == 404)) {
      endpoint_is_old = false;
      if (Result<void> ready = ResolveExecd(target, StateLook::kAtOnce); !ready) {
        return NotRun(std::move(ready).error(), target.handle.id, request);
      }
      continue;
    }
    const TimePoint next = clock().Now() + calls_.PauseAfter(error, number);
    if (!out_of_time && calls_.policy().MayRetry(error, /*idempotent=*/false, number) &&
        (!target.scope.deadline || next < *target.scope.deadline)) {
      if (PauseUntil(clock(), next, request.stop, "retry pause")) continue;
      Error cancelled = CancelledError("runCode", target.handle.id);
      cancelled.attempts = number;
      return cancelled;
    }
    ExplainBySandbox(error, target.scope);
    return error;
  }
}

Result<void> OpenSandboxProvider::ResolveExecd(Target& target, StateLook look) {
  ReadyWait wait = StartWait(std::nullopt, std::nullopt);
  if (target.scope.deadline) {
    wait.deadline = std::min(wait.deadline, *target.scope.deadline);
    wait.request_deadline = std::min(wait.request_deadline, *target.scope.deadline);
  }
  Result<ExecdEndpoint> endpoint = WaitForEndpoint(target.scope, wait, target.handle.use_server_proxy, look);
  if (!endpoint) {
    Error& error = endpoint.error();
    // The run's deadline came first: it is the clock that ran out.
    if (error.timeout_clock == TimeoutClock::kReady && target.scope.deadline &&
        clock().Now() >= *target.scope.deadline) {
      error.timeout_clock = TimeoutClock::kRequest;
    }
    return std::move(error);
  }
  target.handle.execd_endpoint = std::move(endpoint->endpoint);
  target.handle.execd_headers = std::move(endpoint->headers);
  return {};
}

void OpenSandboxProvider::StreamRun(RunAttempt& attempt, const Target& target, const RunCodeRequest& request,
                                    const std::string& body) {
  HttpRequest http;
  http.method = "POST";
  http.url = attempt.url = attempt.execd_base + "/code";
  http.headers = WithEndpointHeaders(
      {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}, {"Cache-Control", "no-cache"}},
      target.handle.execd_headers);
  http.body = body;
  ExchangeOptions options;
  options.deadline = target.scope.deadline;
  options.connect_timeout = options_.connect_timeout;
  options.idle_timeout = IdleTimeoutOf(request);
  options.stop = request.stop;

  StreamHandler handler;
  handler.on_headers = [&attempt](int status, const std::vector<HeaderField>& headers) {
    attempt.status = status;
    attempt.headers = headers;
    return StreamAction::kContinue;
  };
  handler.on_bytes = [this, &attempt](std::string_view bytes) {
    if (!IsSuccess(attempt.status)) {
      attempt.error_body += bytes.substr(0, kErrorBodyBytesMax - attempt.error_body.size());
      return attempt.error_body.size() < kErrorBodyBytesMax ? StreamAction::kContinue : StreamAction::kStop;
    }
    if (!attempt.parser.Feed(bytes)) return StreamAction::kStop;
    if (!attempt.parser.completed()) return StreamAction::kContinue;
    const TimePoint now = clock().Now();
    if (!attempt.completed_at) attempt.completed_at = now;
    attempt.stayed_open = now - *attempt.completed_at >= kLateOutputGrace;
    return attempt.stayed_open ? StreamAction::kStop : StreamAction::kContinue;
  };
  if (request.stop.stop_requested()) {
    attempt.error = CancelledError("runCode", target.handle.id);
    return;
  }
  Result<StreamEnd> end = calls_.transport().Stream(http, options, handler);
  if (!end) attempt.error = std::move(end).error();
}

Result<CodeExecutionResult> OpenSandboxProvider::Conclude(RunAttempt& attempt, const Target& target,
                                                          const RunCodeRequest& request) {
  ExecdEventParser& parser = attempt.parser;
  const std::string& id = target.handle.id;
  // Half an event behind the end of the run is noise; without that end it is the last that is known of the output.
  parser.Finish(/*keep_incomplete=*/attempt.error.has_value() || parser.over_limit() || !parser.ended());
  const bool cancelled = attempt.error && attempt.error->kind == ErrorKind::kCancelled;
  if (parser.ended() && !parser.over_limit() && !cancelled) {
    CodeExecutionResult result = parser.TakeResult();
    result.cut_after_completion = attempt.error.has_value() || attempt.stayed_open;
    return result;
  }

  Error error;
  bool interrupt = false;
  if (parser.over_limit()) {
    error.kind = ErrorKind::kOutputLimit;
    error.message = "Sandbox output exceeded " +
                    std::to_string(request.output_bytes_max.value_or(options_.output_bytes_max)) +
                    " bytes; aborting to avoid unbounded memory use.";
    interrupt = true;
  } else if (attempt.error && attempt.error->kind != ErrorKind::kStreamTruncated) {
    error = std::move(*attempt.error);
    interrupt = error.kind == ErrorKind::kTimeout || cancelled;
  } else if (!attempt.error && parser.events_count() == 0 && parser.result().skipped_lines_count > 0) {
    error.kind = ErrorKind::kProtocol;
    error.message = "OpenSandbox runCode answered " + std::to_string(attempt.status) +
                    " with something that is no event stream (Content-Type: " +
                    FindHeader(attempt.headers, "Content-Type").value_or("none") + ")";
  } else {
    error.kind = ErrorKind::kStreamTruncated;
    error.message = parser.events_count() == 0
                        ? "OpenSandbox run in sandbox " + id + ": the stream was empty, it ended without an event"
                        : "OpenSandbox run in sandbox " + id + ": the stream ended without its completion event";
  }
  error.operation = "runCode";
  error.sandbox_id = id;
  error.attempts = attempt.number;
  error.http_status = attempt.status;
  error.request_id = FindHeader(attempt.headers, "X-Request-ID").value_or("");
  error.outcome = parser.events_count() > 0 ? Outcome::kHappened : Outcome::kUnknown;
  NameRunClock(error, id, request);
  if (interrupt) Interrupt(attempt, target, cancelled ? kInterruptTimeWhenCancelled : kInterruptTime);

  CodeExecutionResult partial = parser.TakeResult();
  partial.truncated = true;
  error.partial_result = std::make_shared<const CodeExecutionResult>(std::move(partial));
  if (error.kind != ErrorKind::kOutputLimit && !cancelled) ExplainBySandbox(error, target.scope);
  return error;
}

void OpenSandboxProvider::Interrupt(const RunAttempt& attempt, const Target& target, Duration time_limit) {
  if (attempt.parser.execution_id().empty()) return;
  HttpRequest http;
  http.method = "DELETE";
  http.url = attempt.execd_base + "/code?id=" + PercentEncode(attempt.parser.execution_id());
  http.headers = WithEndpointHeaders({}, target.handle.execd_headers);
  ExchangeOptions options;
  options.deadline = clock().Now() + time_limit;
  options.connect_timeout = std::min(options_.connect_timeout, time_limit);
  options.response_bytes_max = LifecycleCalls::kResponseBytesMax;
  (void)calls_.transport().Send(http, options);
}

void OpenSandboxProvider::ExplainBySandbox(Error& error, const CallScope& scope) {
  if (error.kind == ErrorKind::kApi && error.http_status < 500 && error.http_status != 404 &&
      error.http_status != 410) {
    return;
  }
  CallScope own = scope;
  own.deadline = clock().Now() + kStateLookTime;
  for (int looks = 1; looks <= kStateLooksMax; ++looks) {
    const Result<SandboxStatus> status = GetStatus(own);
    if (status) {
      error.state = status->state;
      error.state_reason = status->reason;
      error.state_message = status->message;
      return;
    }
    const Error& found = status.error();
    if (found.kind == ErrorKind::kSandboxGone || found.kind == ErrorKind::kTerminalState) {
      error.message = found.kind == ErrorKind::kTerminalState
                          ? found.message
                          : "OpenSandbox sandbox " + scope.sandbox_id +
                                " does not exist any more; its run failed: " + error.message;
      error.kind = found.kind;
      error.timeout_clock = TimeoutClock::kNone;
      error.state = found.state;
      error.state_reason = found.state_reason;
      error.state_message = found.state_message;
      return;
    }
    if (!calls_.policy().MayRetry(found, /*idempotent=*/true, looks)) return;
    const TimePoint next = clock().Now() + calls_.PauseAfter(found, looks);
    if (next >= *own.deadline || !PauseUntil(clock(), next, scope.stop, "retry pause")) return;
  }
}

Error OpenSandboxProvider::NotRun(Error error, const std::string& id, const RunCodeRequest& request) const {
  NameRunClock(error, id, request);
  error.outcome = Outcome::kDidNotHappen;  // whatever became of the sandbox: the code was not sent
  return error;
}

void OpenSandboxProvider::NameRunClock(Error& error, const std::string& id, const RunCodeRequest& request) const {
  if (error.kind != ErrorKind::kTimeout) return;
  if (error.timeout_clock == TimeoutClock::kRequest && RunDeadlineOf(request)) {
    error.timeout_clock = TimeoutClock::kRunDeadline;
    error.message = "OpenSandbox run in sandbox " + id + " did not end within " +
                    PythonSeconds(*RunDeadlineOf(request)) + " seconds";
  } else if (error.timeout_clock == TimeoutClock::kIdle && IdleTimeoutOf(request)) {
    error.message =
        "OpenSandbox run in sandbox " + id + " sent nothing for " + PythonSeconds(*IdleTimeoutOf(request)) + " seconds";
  }
}

}  // namespace opensandbox::internal

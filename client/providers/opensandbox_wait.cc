#include <algorithm>
#include <utility>

#include "client/providers/opensandbox_provider_impl.h"

namespace opensandbox::internal {
namespace {

// What one look may take when there is no time at all: the contract makes at least one request.
constexpr Duration kSingleLookTime = std::chrono::seconds(1);
// The last look comes this long before the deadline, however long the pauses have become.
constexpr Duration kLastLookTime = std::chrono::milliseconds(100);
// How often the endpoint wait looks at the sandbox itself: after each n-th failure.
constexpr int kFailuresPerStateLook = 5;

// May the same request succeed a moment later?
bool IsTransient(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kTransport:
    case ErrorKind::kTimeout:
    case ErrorKind::kStreamTruncated:
      return true;
    case ErrorKind::kApi:
      return error.http_status == 429 ||
             (error.http_status >= 500 && error.http_status != 501 && error.http_status != 505);
    default:
      return false;
  }
}

// Pauses grow by half each time: 200, 300, 450 ms ... up to `max`.
Duration Grown(Duration interval, Duration max) { return std::min(interval + interval / 2, std::max(max, interval)); }

Error ReadyTimeout(const std::string& operation, const std::string& message, const CallScope& scope, int attempts,
                   const std::optional<Error>& last) {
  Error error;
  // The answer that was not good enough, if the last one was an error.
  if (last) error = *last;
  error.kind = ErrorKind::kTimeout;
  error.timeout_clock = TimeoutClock::kReady;
  error.message = message;
  error.operation = operation;
  error.sandbox_id = scope.sandbox_id;
  error.attempts = attempts;
  return error;
}

}  // namespace

OpenSandboxProvider::ReadyWait OpenSandboxProvider::StartWait(const std::optional<Duration>& ready_timeout,
                                                              const std::optional<Duration>& poll_interval) {
  ReadyWait wait;
  const TimePoint now = clock().Now();
  wait.ready_timeout = ready_timeout.value_or(options_.ready_timeout);
  wait.deadline = now + wait.ready_timeout;
  wait.request_deadline = wait.ready_timeout > Duration::zero() ? wait.deadline : now + kSingleLookTime;
  // A pause of nothing would be a busy loop.
  wait.poll_interval = std::max<Duration>(poll_interval.value_or(options_.poll_interval), std::chrono::milliseconds(1));
  return wait;
}

bool OpenSandboxProvider::PauseBetweenLooks(const ReadyWait& wait, TimePoint next, const std::stop_token& stop,
                                            const char* label) {
  const TimePoint now = clock().Now();
  const TimePoint last_look = wait.deadline - kLastLookTime;
  if (next > last_look) next = now < last_look ? last_look : wait.deadline;
  return PauseUntil(clock(), next, stop, label) && next < wait.deadline;
}

Result<SandboxStatus> OpenSandboxProvider::GetStatus(const CallScope& scope) {
  LifecycleRequest request;
  request.operation = "getSandbox";
  request.method = "GET";
  request.path = "/sandboxes/" + PercentEncode(scope.sandbox_id);
  request.timeout = options_.request_timeout;
  const Result<HttpResponse> response = calls_.Once(request, scope);
  if (!response) {
    Error error = response.error();
    if (error.kind == ErrorKind::kApi && error.http_status == 404) {
      error.kind = ErrorKind::kSandboxGone;
      error.message = "OpenSandbox sandbox " + scope.sandbox_id + " does not exist any more: " + error.message;
    }
    return error;
  }
  Result<SandboxRecord> record = ParseSandbox(request.operation, *response, /*needs_id=*/false);
  if (!record) {
    record.error().sandbox_id = scope.sandbox_id;
    return std::move(record).error();
  }
  if (IsTerminal(record->status.state)) {
    Error error = TerminalStateError(scope.sandbox_id, record->status);
    error.operation = request.operation;
    return error;
  }
  return record->status;
}

Result<void> OpenSandboxProvider::WaitUntilRunning(const CallScope& scope, const ReadyWait& wait) {
  CallScope own = scope;
  own.deadline = wait.request_deadline;
  Duration interval = wait.poll_interval;
  SandboxStatus status;
  std::optional<Error> failure;
  int failures = 0;
  for (int polls = 1;; ++polls) {
    Result<SandboxStatus> look = GetStatus(own);
    TimePoint next = clock().Now();
    if (look) {
      status = *look;
      if (status.state == "Running") return {};
      // Pending, Paused, a state of a newer server, or none: whatever it is, it is not the end.
      failure.reset();
      failures = 0;
      next += interval;
      interval = Grown(interval, options_.poll_interval_max);
    } else {
      Error& error = look.error();
      error.attempts = polls;
      if (!IsTransient(error)) return std::move(error);
      failure = std::move(error);
      next += calls_.PauseAfter(*failure, ++failures);
    }
    if (clock().Now() < wait.deadline && PauseBetweenLooks(wait, next, scope.stop, "pause between polls")) continue;
    if (scope.stop.stop_requested()) {
      Error error = CancelledError("getSandbox", scope.sandbox_id);
      error.attempts = polls;
      return error;
    }
    Error error = ReadyTimeout("getSandbox",
                               "OpenSandbox sandbox " + scope.sandbox_id + " was not Running within " +
                                   PythonSeconds(wait.ready_timeout) + " seconds",
                               scope, polls, failure);
    error.state = status.state;
    error.state_reason = status.reason;
    error.state_message = status.message;
    return error;
  }
}

Result<ExecdEndpoint> OpenSandboxProvider::WaitForEndpoint(const CallScope& scope, const ReadyWait& wait,
                                                           bool use_server_proxy, StateLook look) {
  CallScope own = scope;
  own.deadline = wait.request_deadline;
  LifecycleRequest request;
  request.operation = "getEndpoint";
  request.method = "GET";
  request.path = "/sandboxes/" + PercentEncode(scope.sandbox_id) + "/endpoints/" + std::to_string(kExecdPort) +
                 "?use_server_proxy=" + (use_server_proxy ? "true" : "false");
  request.timeout = options_.request_timeout;
  Duration interval = wait.poll_interval;
  std::optional<Error> failure;
  int transient_failures = 0;
  for (int polls = 1;; ++polls) {
    const Result<HttpResponse> response = calls_.Once(request, own);
    TimePoint next = clock().Now();
    if (response) {
      Result<ExecdEndpoint> endpoint = ParseEndpoint(*response);
      if (!endpoint) {
        endpoint.error().sandbox_id = scope.sandbox_id;
        endpoint.error().attempts = polls;
        return std::move(endpoint).error();
      }
      if (!endpoint->endpoint.empty()) return endpoint;
      failure.reset();
    } else {
      failure = response.error();
      failure->attempts = polls;
    }
    const bool not_yet = !failure || (failure->kind == ErrorKind::kApi && failure->http_status == 404);
    if (not_yet) {
      transient_failures = 0;
      next += interval;
      interval = Grown(interval, options_.poll_interval_max);
    } else {
      if (!IsTransient(*failure)) return *failure;
      next += calls_.PauseAfter(*failure, ++transient_failures);
    }
    const bool has_time = clock().Now() < wait.deadline;
    // No endpoint of a sandbox that has ended will ever come.
    if (has_time && (polls % kFailuresPerStateLook == 0 || (look == StateLook::kAtOnce && polls == 1 && not_yet))) {
      const Result<SandboxStatus> status = GetStatus(own);
      if (!status &&
          (status.error().kind == ErrorKind::kTerminalState || status.error().kind == ErrorKind::kSandboxGone)) {
        return status.error();
      }
    }
    if (has_time && PauseBetweenLooks(wait, next, scope.stop, "pause between polls")) continue;
    if (scope.stop.stop_requested()) {
      Error error = CancelledError(request.operation, scope.sandbox_id);
      error.attempts = polls;
      return error;
    }
    return ReadyTimeout(request.operation,
                        "OpenSandbox execd endpoint for " + scope.sandbox_id + " was not ready within " +
                            PythonSeconds(wait.ready_timeout) + " seconds",
                        scope, polls, failure);
  }
}

Result<void> OpenSandboxProvider::ProbeExecd(const std::string& execd_base, const std::vector<HeaderField>& headers,
                                             const CallScope& scope, const ReadyWait& wait) {
  HttpRequest ping;
  ping.method = "GET";
  ping.url = execd_base + "/ping";
  ping.headers = WithEndpointHeaders({}, headers);
  ExchangeOptions options;
  options.connect_timeout = options_.connect_timeout;
  options.response_bytes_max = LifecycleCalls::kResponseBytesMax;
  options.stop = scope.stop;
  Duration interval = wait.poll_interval;
  for (int polls = 1;; ++polls) {
    options.deadline = std::min(clock().Now() + options_.request_timeout, wait.request_deadline);
    const Result<HttpResponse> response = calls_.transport().Send(ping, options);
    if (response && response->status >= 200 && response->status < 300) return {};
    Error failure = response ? ApiError("ping", response->status, response->headers, response->body, ping.url, clock())
                             : response.error();
    failure.operation = "ping";
    failure.sandbox_id = scope.sandbox_id;
    failure.attempts = polls;
    if (failure.http_status == 401 || failure.http_status == 403 || failure.kind == ErrorKind::kCancelled) {
      return failure;
    }
    const TimePoint next = clock().Now() + interval;
    interval = Grown(interval, options_.poll_interval_max);
    if (clock().Now() < wait.deadline && PauseBetweenLooks(wait, next, scope.stop, "pause between probes")) continue;
    if (scope.stop.stop_requested()) return CancelledError("ping", scope.sandbox_id);
    return ReadyTimeout("ping",
                        "OpenSandbox execd of " + scope.sandbox_id + " did not answer within " +
                            PythonSeconds(wait.ready_timeout) + " seconds",
                        scope, polls, failure);
  }
}

}  // namespace opensandbox::internal

#include "client/providers/lifecycle_calls.h"

#include <algorithm>
#include <utility>

#include "client/providers/opensandbox_wire.h"

namespace opensandbox::internal {

bool PauseUntil(Clock& clock, TimePoint when, const std::stop_token& stop, const char* label) {
  if (stop.stop_requested()) return false;
  const std::shared_ptr<Waker> waker = clock.NewWaker();
  const std::stop_callback on_stop(stop, [&waker] { waker->Wake(); });
  WaitRequest wait;
  wait.deadline = when;
  wait.waker = waker.get();
  wait.label = label;
  clock.Wait(wait);
  return !stop.stop_requested();
}

Error CancelledError(const std::string& operation, const std::string& sandbox_id, const std::string& label) {
  Error error;
  error.kind = ErrorKind::kCancelled;
  error.message = label + " " + operation + " was cancelled";
  error.operation = operation;
  error.sandbox_id = sandbox_id;
  return error;
}

LifecycleCalls::LifecycleCalls(std::shared_ptr<Transport> transport, RetryPolicy policy, Duration connect_timeout,
                               std::uint64_t jitter_seed, Headers headers, std::string label)
    : transport_(std::move(transport)),
      policy_(std::move(policy)),
      connect_timeout_(connect_timeout),
      headers_(std::move(headers)),
      label_(std::move(label)),
      random_(SeededRandom::ForPurpose(jitter_seed, "retry-jitter")) {}

Result<HttpResponse> LifecycleCalls::Once(const LifecycleRequest& request, const CallScope& scope) {
  if (scope.stop.stop_requested()) return Cancelled(request.operation, scope.sandbox_id);
  const TimePoint now = clock().Now();
  const TimePoint deadline = std::min(now + request.timeout, scope.deadline.value_or(TimePoint::max()));
  if (deadline <= now) {
    Error error;
    error.kind = ErrorKind::kTimeout;
    error.timeout_clock = TimeoutClock::kRequest;
    error.message = "no time was left for " + label_ + " " + request.operation;
    error.operation = request.operation;
    error.sandbox_id = scope.sandbox_id;
    return error;
  }
  HttpRequest http;
  http.method = request.method;
  http.url = scope.base + request.path;
  http.headers = headers_(scope.api_key, !request.body.empty());
  http.body = request.body;
  ExchangeOptions options;
  options.deadline = deadline;
  options.connect_timeout = connect_timeout_;
  options.response_bytes_max = kResponseBytesMax;
  options.stop = scope.stop;
  Result<HttpResponse> response = transport_->Send(http, options);
  if (response && response->status >= 200 && response->status < 300) return response;
  Error error = response ? ApiError(request.operation, response->status, response->headers, response->body, http.url,
                                    clock(), label_)
                         : std::move(response).error();
  error.operation = request.operation;
  error.sandbox_id = scope.sandbox_id;
  error.attempts = 1;
  return error;
}

LifecycleCalls::Repeated LifecycleCalls::Repeat(const LifecycleRequest& request, const CallScope& scope) {
  bool maybe_done = false;
  for (int attempts = 1;; ++attempts) {
    Result<HttpResponse> response = Once(request, scope);
    if (response) return {std::move(response), attempts, maybe_done};
    Error& error = response.error();
    if (error.attempts == 0) --attempts;  // nothing was sent: cancelled, or no time was left
    error.attempts = attempts;
    const TimePoint next = clock().Now() + PauseAfter(error, std::max(attempts, 1));
    const bool again =
        policy_.MayRetry(error, /*idempotent=*/true, attempts) && (!scope.deadline || next < *scope.deadline);
    if (again && PauseUntil(clock(), next, scope.stop, "retry pause")) {
      maybe_done = maybe_done || error.outcome != Outcome::kDidNotHappen;
      continue;
    }
    if (again) {
      Error cancelled = Cancelled(request.operation, scope.sandbox_id);
      cancelled.attempts = attempts;
      cancelled.outcome = error.outcome;
      error = std::move(cancelled);
    }
    if (maybe_done) error.outcome = Outcome::kUnknown;
    return {std::move(response), attempts, maybe_done};
  }
}

Duration LifecycleCalls::PauseAfter(const Error& error, int attempts_made) {
  const std::lock_guard lock(mutex_);
  return policy_.PauseAfter(error, attempts_made, random_);
}

}  // namespace opensandbox::internal

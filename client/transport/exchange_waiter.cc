#include "client/transport/exchange_waiter.h"

namespace opensandbox::internal {
namespace {

// A span of "for ever" must not overflow.
TimePoint After(TimePoint start, Duration span) {
  return span > TimePoint::max() - start ? TimePoint::max() : start + span;
}

}  // namespace

ExchangeWaiter::ExchangeWaiter(Clock& clock, const ExchangeOptions& options)
    : clock_(clock),
      options_(options),
      waker_(clock.NewWaker()),
      last_byte_(clock.Now()),
      on_stop_(options.stop, WakeCall{waker_.get()}) {
  if (options.connect_timeout) connect_deadline_ = After(last_byte_, *options.connect_timeout);
}

void ExchangeWaiter::set_phase(Phase phase) {
  phase_ = phase;
  if (phase == Phase::kRead) NoteByte();
}

Failure ExchangeWaiter::Check() const {
  if (options_.stop.stop_requested()) return {Trouble::kCancelled, "the caller asked to stop"};
  // At the deadline itself, what is there already may still be taken; Wait() ends the exchange if nothing is.
  if (options_.deadline && clock_.Now() > *options_.deadline) return {Trouble::kRequestDeadline, "deadline passed"};
  return {};
}

Failure ExchangeWaiter::Wait(int fd, short events) {
  WaitRequest request{.fd = fd, .events = events, .waker = waker_.get(), .label = "client answer"};
  Failure on_deadline;
  const auto limit = [&](const std::optional<TimePoint>& at, Trouble trouble, const char* label, const char* detail) {
    if (!at || (request.deadline && *request.deadline <= *at)) return;
    request.deadline = at;
    request.label = label;
    on_deadline = {trouble, detail};
  };
  limit(options_.deadline, Trouble::kRequestDeadline, "client request deadline", "deadline passed");
  if (phase_ == Phase::kConnect) {
    limit(connect_deadline_, Trouble::kConnectTimeout, "client connect timeout", "connect timeout");
  }
  if (phase_ == Phase::kRead && options_.idle_timeout) {
    limit(After(last_byte_, *options_.idle_timeout), Trouble::kIdleTimeout, "client idle timeout",
          "no byte for the idle time");
  }
  switch (clock_.Wait(request)) {
    case WaitOutcome::kReady:
      return {};
    case WaitOutcome::kWoken:
      return {Trouble::kCancelled, "the caller asked to stop"};
    case WaitOutcome::kDeadline:
      break;
  }
  return on_deadline;
}

}  // namespace opensandbox::internal

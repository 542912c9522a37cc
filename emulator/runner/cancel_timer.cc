#include "emulator/runner/cancel_timer.h"

#include <algorithm>

#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {
namespace {

constexpr char kLabel[] = "cancelAfter";

bool Waits(const VirtualClock& clock) {
  const auto pending = clock.PendingDeadlines();
  return std::any_of(pending.begin(), pending.end(), [](const auto& wait) { return wait.label == kLabel; });
}

}  // namespace

CancelTimer::CancelTimer(Clock& clock, TimePoint when, std::stop_source stop) : waker_(clock.NewWaker()) {
  thread_ = std::thread([this, &clock, when, stop]() mutable {
    const Participant participant(clock);
    joined_.count_down();
    WaitRequest request;
    request.deadline = when;
    request.waker = waker_.get();
    request.label = kLabel;
    if (clock.Wait(request) == WaitOutcome::kDeadline) stop.request_stop();
    over_ = true;
  });
  joined_.wait();
  const auto* virtual_clock = dynamic_cast<const VirtualClock*>(&clock);
  if (virtual_clock == nullptr) return;
  while (!over_ && !Waits(*virtual_clock)) std::this_thread::yield();
}

CancelTimer::~CancelTimer() {
  waker_->Wake();
  thread_.join();
}

}  // namespace opensandbox::emulator

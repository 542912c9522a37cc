#include "emulator/http/refusal_gate.h"

#include <utility>

#include "emulator/http/listener.h"

namespace opensandbox::emulator {

RefusalGate::RefusalGate(int listener, std::vector<RefusalWindow> windows, std::shared_ptr<Clock> clock)
    : listener_(listener),
      windows_(std::move(windows)),
      clock_(std::move(clock)),
      start_(clock_->Now()),
      waker_(clock_->NewWaker()) {
  std::promise<void> ready;
  std::future<void> begun = ready.get_future();
  thread_ = std::thread([this, promise = std::move(ready)]() mutable { Run(std::move(promise)); });
  begun.wait();
}

RefusalGate::~RefusalGate() {
  over_ = true;
  waker_->Wake();
  thread_.join();
}

void RefusalGate::Run(std::promise<void> ready) {
  // Nobody may see time move while the listener is between two states.
  const Participant participant(*clock_);
  bool told = false;
  for (const RefusalWindow& window : windows_) {
    if (window.from > Duration::zero() && !std::exchange(told, true)) ready.set_value();
    if (!WaitUntil(start_ + window.from)) return;
    PauseListening(listener_);
    if (window.on_begin) window.on_begin();
    if (!std::exchange(told, true)) ready.set_value();
    if (!window.until || !WaitUntil(start_ + *window.until)) return;
    ResumeListening(listener_);
  }
  if (!told) ready.set_value();
}

bool RefusalGate::WaitUntil(TimePoint when) {
  while (!over_ && clock_->Now() < when) {
    clock_->Wait({.deadline = when, .waker = waker_.get(), .label = "listener window"});
  }
  return !over_;
}

}  // namespace opensandbox::emulator

// Requests a stop at an instant of a clock.
#ifndef OPENSANDBOX_EMULATOR_RUNNER_CANCEL_TIMER_H_
#define OPENSANDBOX_EMULATOR_RUNNER_CANCEL_TIMER_H_

#include <atomic>
#include <latch>
#include <memory>
#include <stop_token>
#include <thread>

#include "opensandbox/base/clock.h"

namespace opensandbox::emulator {

// While it lives, a second participant of the clock waits for `when` and then calls request_stop(). The constructor
// returns once that thread waits: then the order of two equal deadlines on a virtual clock is always the same.
class CancelTimer {
 public:
  // `clock` must outlive the timer.
  CancelTimer(Clock& clock, TimePoint when, std::stop_source stop);
  ~CancelTimer();  // ends the wait if it has not ended
  CancelTimer(const CancelTimer&) = delete;
  CancelTimer& operator=(const CancelTimer&) = delete;

 private:
  std::shared_ptr<Waker> waker_;
  std::latch joined_{1};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_RUNNER_CANCEL_TIMER_H_

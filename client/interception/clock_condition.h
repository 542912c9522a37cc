// A condition variable on a Clock.
#ifndef OPENSANDBOX_CLIENT_INTERCEPTION_CLOCK_CONDITION_H_
#define OPENSANDBOX_CLIENT_INTERCEPTION_CLOCK_CONDITION_H_

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "opensandbox/base/clock.h"

namespace opensandbox::internal {

// Waiting on a clock instead of a std::condition_variable keeps a jumping clock informed of who only waits.
class ClockCondition {
 public:
  explicit ClockCondition(Clock& clock) : clock_(clock) {}

  // Call with the mutex held.
  void NotifyAll();
  // Releases `lock` while it waits for a notification, the deadline or a stop request; may also return without cause.
  void Wait(std::unique_lock<std::mutex>& lock, std::optional<TimePoint> deadline, const std::stop_token& stop,
            const char* label);

 private:
  Clock& clock_;
  std::vector<std::shared_ptr<Waker>> waiting_;  // under the caller's mutex
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_INTERCEPTION_CLOCK_CONDITION_H_

#include "client/interception/clock_condition.h"

#include <algorithm>

namespace opensandbox::internal {

void ClockCondition::NotifyAll() {
  for (const std::shared_ptr<Waker>& waker : waiting_) waker->Wake();
}

void ClockCondition::Wait(std::unique_lock<std::mutex>& lock, std::optional<TimePoint> deadline,
                          const std::stop_token& stop, const char* label) {
  const std::shared_ptr<Waker> waker = clock_.NewWaker();
  waiting_.push_back(waker);
  lock.unlock();
  {
    const std::stop_callback on_stop(stop, [&waker] { waker->Wake(); });
    WaitRequest wait;
    wait.deadline = deadline;
    wait.waker = waker.get();
    wait.label = label;
    clock_.Wait(wait);
  }
  lock.lock();
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), waker));
}

}  // namespace opensandbox::internal

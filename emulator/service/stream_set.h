// The streams that run in a tenant's world, so that the end of that world can end them.
#ifndef OPENSANDBOX_EMULATOR_SERVICE_STREAM_SET_H_
#define OPENSANDBOX_EMULATOR_SERVICE_STREAM_SET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "opensandbox/base/clock.h"

namespace opensandbox::emulator {

// Thread-safe. Holds the wakers of running streams; a woken stream finds out itself why it was woken.
class StreamSet {
 public:
  // Returns the number to leave with.
  std::uint64_t Enter(std::shared_ptr<Waker> waker) {
    std::lock_guard lock(mutex_);
    wakers_.emplace(++last_, std::move(waker));
    return last_;
  }
  void Leave(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    wakers_.erase(number);
  }
  void WakeAll() {
    std::vector<std::shared_ptr<Waker>> wakers;
    {
      std::lock_guard lock(mutex_);
      wakers.reserve(wakers_.size());
      for (const auto& [number, waker] : wakers_) wakers.push_back(waker);
    }
    for (const auto& waker : wakers) waker->Wake();
  }
  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return wakers_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Waker>> wakers_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SERVICE_STREAM_SET_H_

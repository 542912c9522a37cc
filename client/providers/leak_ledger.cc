#include <algorithm>
#include <utility>

#include "opensandbox/providers/leak_sink.h"

namespace opensandbox {

void LeakLedger::OnLeak(const Leak& leak) {
  const std::lock_guard lock(mutex_);
  leaks_.push_back(leak);
}

std::vector<Leak> LeakLedger::Leaks() const {
  const std::lock_guard lock(mutex_);
  return leaks_;
}

std::vector<Leak> LeakLedger::Drain() {
  const std::lock_guard lock(mutex_);
  return std::exchange(leaks_, {});
}

}  // namespace opensandbox

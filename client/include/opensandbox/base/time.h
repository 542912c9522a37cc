// The time types used everywhere.
#ifndef OPENSANDBOX_BASE_TIME_H_
#define OPENSANDBOX_BASE_TIME_H_

#include <chrono>

namespace opensandbox {

using Duration = std::chrono::nanoseconds;
// A reading of Clock::Now(): monotonic, comparable only with readings of the same clock.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
// A calendar instant (UTC).
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

}  // namespace opensandbox

#endif  // OPENSANDBOX_BASE_TIME_H_

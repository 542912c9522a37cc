// Instants as the lifecycle server takes and shows them: microseconds since the epoch, years 1 to 9999 (WallTime ends
// in 2262).
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_DATETIME_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_DATETIME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opensandbox/base/time.h"

namespace opensandbox::emulator {

// The end of year 9999.
inline constexpr std::int64_t kDatetimeMaxMicros = 253402300799999999;

struct DatetimeResult {
  std::optional<std::int64_t> micros;
  std::string_view error;  // of the validator, if it is no instant
};
// A date, a date and a time (T, t, _ or a blank between; seconds, fraction and offset optional), or an epoch.
DatetimeResult ParseDatetimeText(std::string_view text);
// Seconds, or milliseconds if the number is above 2e10.
DatetimeResult DatetimeOfEpoch(double number);

std::int64_t MicrosOf(WallTime time);
// "2026-11-30T21:53:39.568738Z"; no fraction at all when the microseconds are zero.
std::string FormatMicros(std::int64_t micros);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_DATETIME_H_

// Durations and byte sizes as people write them.
#ifndef OPENSANDBOX_BASE_UNITS_H_
#define OPENSANDBOX_BASE_UNITS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opensandbox/base/time.h"

namespace opensandbox {

// "250ms", "1.5s", "5m", "24h", "10us", "3ns", "7d"; no sign, no blanks, unit required ("0" alone is allowed). nullopt otherwise.
std::optional<Duration> ParseDuration(std::string_view text);
// The shortest exact form of the above with at most 9 decimals: "30s", "1.25s", "2m30s" is written "150s".
std::string FormatDuration(Duration duration);
// "512", "10KiB", "1.5MiB", "10GiB", also KB/MB/GB (powers of 1000). nullopt otherwise, or over 2^63.
std::optional<std::uint64_t> ParseByteSize(std::string_view text);
std::string FormatByteSize(std::uint64_t bytes);

}  // namespace opensandbox

#endif  // OPENSANDBOX_BASE_UNITS_H_

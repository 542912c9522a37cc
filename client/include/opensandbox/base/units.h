// Durations and byte sizes as people write them.
#ifndef OPENSANDBOX_BASE_UNITS_H_
#define OPENSANDBOX_BASE_UNITS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "opensandbox/base/time.h"

namespace opensandbox {

// "250ms", "1.5s", "5m", "24h", "10us", "3ns", "7d"; no sign, no blanks, unit required ("0" alone is allowed). nullopt
// otherwise, and where it is no whole number of nanoseconds.
std::optional<Duration> ParseDuration(std::string_view text);
// The shortest exact form of the above with at most 9 decimals: "30s", "1.25s", "2m30s" is written "150s". Of two
// equally short forms the one without a decimal point. A minus sign before a negative one.
std::string FormatDuration(Duration duration);
// "512", "10KiB", "1.5MiB", "10GiB", also KB/MB/GB (powers of 1000). nullopt otherwise, over 2^63, or where it is no
// whole number of bytes.
std::optional<std::uint64_t> ParseByteSize(std::string_view text);
// In the largest of GiB, MiB and KiB that needs at most 3 decimals, else in bytes. Exact: ParseByteSize() gives it
// back.
std::string FormatByteSize(std::uint64_t bytes);

}  // namespace opensandbox

#endif  // OPENSANDBOX_BASE_UNITS_H_

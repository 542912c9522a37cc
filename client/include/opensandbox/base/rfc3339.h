// RFC 3339 instants.
#ifndef OPENSANDBOX_BASE_RFC3339_H_
#define OPENSANDBOX_BASE_RFC3339_H_

#include <optional>
#include <string>
#include <string_view>

#include "opensandbox/base/time.h"

namespace opensandbox {

// "2026-11-30T21:53:39.568738Z". `fraction_digits` 0..9; digits beyond are cut off.
std::string FormatRfc3339(WallTime time, int fraction_digits);
// Accepts "Z" or an offset, 'T' or a space or lower case, no fraction or any number of digits (those beyond the ninth
// are dropped). nullopt if it is no date, or one that WallTime can't hold (before 1678 or after 2261).
std::optional<WallTime> ParseRfc3339(std::string_view text);
// "Mon, 30 Nov 2026 21:53:39 GMT", the form of HTTP's Date and Retry-After headers.
std::string FormatHttpDate(WallTime time);
std::optional<WallTime> ParseHttpDate(std::string_view text);

}  // namespace opensandbox

#endif  // OPENSANDBOX_BASE_RFC3339_H_

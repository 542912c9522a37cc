// Makes text of unknown origin fit for a terminal line and for XML.
#ifndef OPENSANDBOX_EMULATOR_REPORT_PRINTABLE_H_
#define OPENSANDBOX_EMULATOR_REPORT_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "opensandbox/base/time.h"

namespace opensandbox::emulator {

// One line: line feeds, tabs and other control characters (C0, DEL, C1, U+2028, U+2029) are written as escapes
// ("\n", "\x1B", "\u0085"), bytes that are no UTF-8 as U+FFFD.
std::string OneLine(std::string_view text);
// Code points of a text; a byte that is no UTF-8 counts as one.
std::size_t CodePoints(std::string_view text);
// For element content and, with `attribute`, for a double-quoted attribute value, whose line breaks and tabs are
// written as references because a parser would turn them into blanks. What XML 1.0 forbids becomes U+FFFD.
std::string XmlEscape(std::string_view text, bool attribute);
// Seconds with three decimals, "1.250". Rounded half up; independent of the locale.
std::string Seconds(Duration duration);
// As it is, or in single quotes where a POSIX shell would read it otherwise.
std::string ShellQuote(const std::string& text);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_REPORT_PRINTABLE_H_

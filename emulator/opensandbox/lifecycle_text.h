// Text as Python's str sees it.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_TEXT_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace opensandbox::emulator {

bool IsUtf8(std::string_view bytes);
// Each ill-formed sequence becomes U+FFFD, as decode("utf-8", "replace") does.
std::string ReplaceIllFormedUtf8(std::string_view bytes);
// In code points. The text must be UTF-8.
std::size_t Utf8Length(std::string_view text);

// str.strip(), for ASCII blanks.
std::string_view PyStrip(std::string_view text);
// str.lower(), for ASCII letters.
std::string PyLower(std::string_view text);
// repr() of a str: 'a', "it's", '\n'.
std::string PyRepr(std::string_view text);
// repr() of a list of str: ['a', 'b'].
std::string PyRepr(const std::vector<std::string>& texts);

// RFC 1123 label: [a-z0-9]([-a-z0-9]*[a-z0-9])?
bool IsDnsLabel(std::string_view text);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_TEXT_H_

// UTF-8 as it comes in pieces from a stream.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_UTF8_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace opensandbox::internal {

// U+FFFD, what stands for bytes that are no UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

struct Utf8Step {
  enum class Kind {
    kWhole,  // `length` bytes are one well-formed character
    kCut,    // well-formed so far, but more bytes must follow
    kBad,    // `length` bytes (at least 1) are ill-formed; one U+FFFD stands for them (Unicode's maximal subpart)
  };
  Kind kind = Kind::kBad;
  std::size_t length = 1;
};

// Looks at the front of `bytes`, which must not be empty.
Utf8Step ClassifyUtf8(std::string_view bytes);

bool IsValidUtf8(std::string_view text);
// Ill-formed bytes replaced by U+FFFD.
std::string RepairUtf8(std::string_view bytes);
// The longest front of well-formed `text` that has at most `bytes_max` bytes and splits no character.
std::string_view Utf8Prefix(std::string_view text, std::size_t bytes_max);
// `code_point` must be no surrogate and below 0x110000.
void AppendUtf8(std::string& out, std::uint32_t code_point);

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_UTF8_H_

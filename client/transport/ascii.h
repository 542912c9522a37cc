// Characters as HTTP sees them, whatever the locale.
#ifndef OPENSANDBOX_CLIENT_TRANSPORT_ASCII_H_
#define OPENSANDBOX_CLIENT_TRANSPORT_ASCII_H_

#include <algorithm>
#include <string_view>

namespace opensandbox::internal {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool IsLetter(char c) { return Lower(c) >= 'a' && Lower(c) <= 'z'; }

inline bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return Lower(x) == Lower(y); });
}

// RFC 9110, 5.6.2: what methods and header names are made of.
inline bool IsToken(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return IsDigit(c) || IsLetter(c) || kOthers.find(c) != std::string_view::npos;
  });
}

// Control characters, the tab excepted, have no place in a header.
inline bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_TRANSPORT_ASCII_H_

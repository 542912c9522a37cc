#include "emulator/scenario/base64.h"

#include <cstdint>

namespace opensandbox::emulator {
namespace {

int Value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  while (!text.empty()) {
    std::string_view group = text.substr(0, 4);
    text.remove_prefix(4);
    std::size_t padding = 0;
    while (text.empty() && padding < 2 && group.back() == '=') {
      group.remove_suffix(1);
      ++padding;
    }
    std::uint32_t bits = 0;
    for (const char c : group) {
      if (Value(c) < 0) return std::nullopt;
      bits = bits << 6 | static_cast<std::uint32_t>(Value(c));
    }
    bits <<= 6 * padding;
    for (std::size_t i = 0; i + padding < 3; ++i) bytes += static_cast<char>(bits >> (16 - 8 * i) & 0xFF);
  }
  return bytes;
}

}  // namespace opensandbox::emulator

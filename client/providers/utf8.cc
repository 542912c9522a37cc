#include "client/providers/utf8.h"

namespace opensandbox::internal {

Utf8Step ClassifyUtf8(std::string_view bytes) {
  const auto at = [&bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return {Utf8Step::Kind::kWhole, 1};
  if (first < 0xC2 || first > 0xF4) return {Utf8Step::Kind::kBad, 1};
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF.
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first == 0xE0) low = 0xA0;
  if (first == 0xED) high = 0x9F;
  if (first == 0xF0) low = 0x90;
  if (first == 0xF4) high = 0x8F;
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes.size()) return {Utf8Step::Kind::kCut, i};
    if (at(i) < low || at(i) > high) return {Utf8Step::Kind::kBad, i};
    low = 0x80;
    high = 0xBF;
  }
  return {Utf8Step::Kind::kWhole, length};
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Step step = ClassifyUtf8(text);
    if (step.kind != Utf8Step::Kind::kWhole) return false;
    text.remove_prefix(step.length);
  }
  return true;
}

std::string RepairUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Utf8Step step = ClassifyUtf8(bytes);
    text += step.kind == Utf8Step::Kind::kWhole ? bytes.substr(0, step.length) : kReplacementCharacter;
    bytes.remove_prefix(step.length);
  }
  return text;
}

std::string_view Utf8Prefix(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xC0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

void AppendUtf8(std::string& out, std::uint32_t code_point) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(static_cast<unsigned char>(value)); };
  if (code_point < 0x80) {
    byte(code_point);
  } else if (code_point < 0x800) {
    byte(0xC0 | (code_point >> 6));
    byte(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    byte(0xE0 | (code_point >> 12));
    byte(0x80 | ((code_point >> 6) & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  } else {
    byte(0xF0 | (code_point >> 18));
    byte(0x80 | ((code_point >> 12) & 0x3F));
    byte(0x80 | ((code_point >> 6) & 0x3F));
    byte(0x80 | (code_point & 0x3F));
  }
}

}  // namespace opensandbox::internal

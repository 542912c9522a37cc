#include "emulator/opensandbox/lifecycle_text.h"

#include <algorithm>
#include <cstdint>

namespace opensandbox::emulator {
namespace {

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

struct Sequence {
  std::size_t bytes = 1;  // consumed; of an ill-formed one: its longest well-formed beginning, at least 1
  bool ok = false;
};

// The sequence at the front (Unicode, table 3-7).
Sequence Front(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {1, true};
  std::size_t length = 0;
  std::uint8_t low = 0x80, high = 0xBF;  // of the second byte
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < (i == 1 ? low : 0x80) || byte(i) > (i == 1 ? high : 0xBF)) return {i, false};
  }
  return {length, true};
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Sequence sequence = Front(bytes);
    if (!sequence.ok) return false;
    bytes.remove_prefix(sequence.bytes);
  }
  return true;
}

std::string ReplaceIllFormedUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Sequence sequence = Front(bytes);
    text.append(sequence.ok ? bytes.substr(0, sequence.bytes) : std::string_view("\xEF\xBF\xBD"));
    bytes.remove_prefix(sequence.bytes);
  }
  return text;
}

std::size_t Utf8Length(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<std::uint8_t>(c) & 0xC0) != 0x80; }));
}

std::string_view PyStrip(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::string PyLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string PyRepr(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const bool double_quotes = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string repr(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      repr.push_back('\\');
      repr.push_back(c);
    } else if (c == '\n') {
      repr.append("\\n");
    } else if (c == '\r') {
      repr.append("\\r");
    } else if (c == '\t') {
      repr.append("\\t");
    } else if ((c >= 0 && c < 0x20) || c == 0x7f) {
      repr.append("\\x");
      repr.push_back(kDigits[(c >> 4) & 15]);
      repr.push_back(kDigits[c & 15]);
    } else {
      repr.push_back(c);
    }
  }
  repr.push_back(quote);
  return repr;
}

std::string PyRepr(const std::vector<std::string>& texts) {
  std::string repr = "[";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) repr.append(", ");
    repr.append(PyRepr(texts[i]));
  }
  return repr + "]";
}

bool IsDnsLabel(std::string_view text) {
  const auto inner = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.front() != '-' && text.back() != '-' && std::all_of(text.begin(), text.end(), inner);
}

}  // namespace opensandbox::emulator

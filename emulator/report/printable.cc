#include "emulator/report/printable.h"

#include <cstdio>

namespace opensandbox::emulator {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";  // U+FFFD

struct Decoded {
  char32_t code_point = 0;
  std::size_t length = 1;
  bool valid = false;
};

// The code point at the start of `text`, which is not empty. Overlong forms, surrogates and values beyond U+10FFFF are
// not valid.
Decoded Decode(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  std::size_t length = 0;
  char32_t value = 0;
  char32_t least = 0;
  if ((first & 0xE0) == 0xC0) {
    length = 2, value = first & 0x1F, least = 0x80;
  } else if ((first & 0xF0) == 0xE0) {
    length = 3, value = first & 0x0F, least = 0x800;
  } else if ((first & 0xF8) == 0xF0) {
    length = 4, value = first & 0x07, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, length, true};
}

template <typename F>
void ForEachCodePoint(std::string_view text, F&& f) {
  while (!text.empty()) {
    const Decoded decoded = Decode(text);
    f(decoded, text.substr(0, decoded.length));
    text.remove_prefix(decoded.length);
  }
}

std::string Escape(char32_t code_point) {
  switch (code_point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  char text[16];
  std::snprintf(text, sizeof(text), code_point < 0x80 ? "\\x%02X" : "\\u%04X", static_cast<unsigned>(code_point));
  return text;
}

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029; }

// https://www.w3.org/TR/xml/#charsets
bool IsXmlChar(char32_t c) { return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xFFFE && c != 0xFFFF); }

}  // namespace

std::string OneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  ForEachCodePoint(text, [&line](const Decoded& decoded, std::string_view bytes) {
    if (!decoded.valid) {
      line += kReplacement;
    } else if (IsControl(decoded.code_point)) {
      line += Escape(decoded.code_point);
    } else {
      line += bytes;
    }
  });
  return line;
}

std::size_t CodePoints(std::string_view text) {
  std::size_t count = 0;
  ForEachCodePoint(text, [&count](const Decoded&, std::string_view) { ++count; });
  return count;
}

std::string XmlEscape(std::string_view text, bool attribute) {
  std::string xml;
  xml.reserve(text.size());
  ForEachCodePoint(text, [&](const Decoded& decoded, std::string_view bytes) {
    if (!decoded.valid || !IsXmlChar(decoded.code_point)) {
      xml += kReplacement;
      return;
    }
    switch (decoded.code_point) {
      case '&':
        xml += "&amp;";
        return;
      case '<':
        xml += "&lt;";
        return;
      case '>':  // "]]>" is not allowed in content
        xml += "&gt;";
        return;
      case '\r':  // a parser would read it as a line feed
        xml += "&#13;";
        return;
      default:
        break;
    }
    if (attribute && decoded.code_point == '"') {
      xml += "&quot;";
    } else if (attribute && decoded.code_point == '\n') {
      xml += "&#10;";
    } else if (attribute && decoded.code_point == '\t') {
      xml += "&#9;";
    } else {
      xml += bytes;
    }
  });
  return xml;
}

std::string Seconds(Duration duration) {
  const bool negative = duration < Duration::zero();
  const long long nanoseconds = negative ? -duration.count() : duration.count();
  const long long milliseconds = nanoseconds / 1000000 + (nanoseconds % 1000000 >= 500000 ? 1 : 0);
  char text[48];
  std::snprintf(text, sizeof(text), "%s%lld.%03lld", negative && milliseconds > 0 ? "-" : "", milliseconds / 1000,
                milliseconds % 1000);
  return text;
}

std::string ShellQuote(const std::string& text) {
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kSafe) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace opensandbox::emulator

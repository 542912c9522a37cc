#include "emulator/opensandbox/execd_json.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace opensandbox::emulator {
namespace {

// The well-formed UTF-8 sequence that `text` starts with: its length and code point. Length 0: none.
struct Utf8Character {
  std::size_t length = 0;
  std::uint32_t code = 0;
};

Utf8Character FirstCharacter(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return {};
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead};
  std::size_t length = 0;
  std::uint32_t code = 0;
  std::uint32_t least = 0;
  if ((lead & 0xE0) == 0xC0) {
    length = 2, code = lead & 0x1Fu, least = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3, code = lead & 0x0Fu, least = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4, code = lead & 0x07u, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {length, code};
}

void AppendUtf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (code >> 6)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (code >> 12)));
    out.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    out.push_back(static_cast<char>(0xF0 | (code >> 18)));
    out.push_back(static_cast<char>(0x80 | ((code >> 12) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

constexpr char kHex[] = "0123456789abcdef";
constexpr std::uint32_t kReplacement = 0xFFFD;
// Go refuses deeper nesting.
constexpr std::size_t kDepthMax = 10000;

void AppendEscape(std::string& out, std::uint32_t code) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(kHex[(code >> shift) & 15]);
}

// Whether Go writes the byte as it is, as a part of a string.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t i = 0x20; i < 0x80; ++i) plain[i] = true;
  for (const unsigned char c : {'"', '\\', '<', '>', '&'}) plain[c] = false;
  return plain;
}();

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Go's quoteChar: the byte as a rune, in single quotes.
std::string Quoted(char c) {
  const auto code = static_cast<unsigned char>(c);
  if (c == '\'') return "'\\''";
  if (c == '"') return "'\"'";
  switch (c) {
    case '\a':
      return "'\\a'";
    case '\b':
      return "'\\b'";
    case '\f':
      return "'\\f'";
    case '\n':
      return "'\\n'";
    case '\r':
      return "'\\r'";
    case '\t':
      return "'\\t'";
    case '\v':
      return "'\\v'";
    case '\\':
      return "'\\\\'";
    default:
      break;
  }
  std::string text = "'";
  if (code < 0x20 || code == 0x7F) {
    text += "\\x";
    text.push_back(kHex[code >> 4]);
    text.push_back(kHex[code & 15]);
  } else if ((code >= 0x80 && code <= 0xA0) || code == 0xAD) {
    AppendEscape(text, code);  // not printable
  } else {
    AppendUtf8(text, code);
  }
  return text + "'";
}

// Checks the first value of a text as Go's scanner does, without recursion.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Empty if there is a whole value; it then is text[begin, end).
  std::string Scan() {
    SkipSpace();
    if (AtEnd()) return "EOF";
    begin = at_;
    if (!ScanValue()) return error_.empty() ? "unexpected EOF" : error_;
    end = at_;
    return {};
  }
  std::size_t begin = 0, end = 0;

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  void SkipSpace() {
    while (!AtEnd() && IsSpace(text_[at_])) ++at_;
  }
  // False, with the error set; at the end of the text without one ("unexpected EOF").
  bool Fail(const char* context) {
    if (!AtEnd()) error_ = "invalid character " + Quoted(text_[at_]) + " " + context;
    return false;
  }

  bool ScanValue() {
    enum class Next { kValue, kValueOrEnd, kKey, kKeyOrEnd, kBehindValue };
    Next next = Next::kValue;
    std::string open;  // '{' and '['
    while (true) {
      if (next == Next::kBehindValue && open.empty()) return true;
      SkipSpace();
      if (AtEnd()) return false;
      const char c = text_[at_];
      switch (next) {
        case Next::kValueOrEnd:
          if (c == ']') {
            ++at_;
            open.pop_back();
            next = Next::kBehindValue;
            break;
          }
          [[fallthrough]];
        case Next::kValue:
          if (c == '{' || c == '[') {
            if (open.size() >= kDepthMax) {
              error_ = "exceeded max depth";
              return false;
            }
            ++at_;
            open.push_back(c);
            next = c == '{' ? Next::kKeyOrEnd : Next::kValueOrEnd;
          } else {
            if (!ScanScalar()) return false;
            next = Next::kBehindValue;
          }
          break;
        case Next::kKeyOrEnd:
          if (c == '}') {
            ++at_;
            open.pop_back();
            next = Next::kBehindValue;
            break;
          }
          [[fallthrough]];
        case Next::kKey:
          if (c != '"') return Fail("looking for beginning of object key string");
          if (!ScanString()) return false;
          SkipSpace();
          if (AtEnd() || text_[at_] != ':') return Fail("after object key");
          ++at_;
          next = Next::kValue;
          break;
        case Next::kBehindValue:
          if (c == ',') {
            ++at_;
            next = open.back() == '{' ? Next::kKey : Next::kValue;
          } else if (c == (open.back() == '{' ? '}' : ']')) {
            ++at_;
            open.pop_back();
          } else {
            return Fail(open.back() == '{' ? "after object key:value pair" : "after array element");
          }
          break;
      }
    }
  }

  bool ScanScalar() {
    const char c = text_[at_];
    if (c == '"') return ScanString();
    if (c == '-' || IsDigit(c)) return ScanNumber();
    if (c == 't') return ScanLiteral("true");
    if (c == 'f') return ScanLiteral("false");
    if (c == 'n') return ScanLiteral("null");
    return Fail("looking for beginning of value");
  }

  bool ScanString() {
    ++at_;
    while (!AtEnd()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return Fail("in string literal");
      ++at_;
      if (c != '\\') continue;
      if (AtEnd()) return false;
      if (text_[at_] == 'u') {
        ++at_;
        for (int i = 0; i < 4; ++i, ++at_) {
          if (AtEnd() || HexValue(text_[at_]) < 0) return Fail("in \\u hexadecimal character escape");
        }
      } else if (std::string_view("bfnrt\\/\"").find(text_[at_]) == std::string_view::npos) {
        return Fail("in string escape code");
      } else {
        ++at_;
      }
    }
    return false;
  }

  bool ScanNumber() {
    if (text_[at_] == '-') {
      ++at_;
      if (AtEnd() || !IsDigit(text_[at_])) return Fail("in numeric literal");
    }
    if (text_[at_] == '0') {
      ++at_;
    } else {
      SkipDigits();
    }
    if (!AtEnd() && text_[at_] == '.') {
      ++at_;
      if (AtEnd() || !IsDigit(text_[at_])) return Fail("after decimal point in numeric literal");
      SkipDigits();
    }
    if (!AtEnd() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (!AtEnd() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (AtEnd() || !IsDigit(text_[at_])) return Fail("in exponent of numeric literal");
      SkipDigits();
    }
    return true;
  }
  void SkipDigits() {
    while (!AtEnd() && IsDigit(text_[at_])) ++at_;
  }

  bool ScanLiteral(std::string_view word) {
    ++at_;
    for (std::size_t i = 1; i < word.size(); ++i, ++at_) {
      if (AtEnd()) return false;
      if (text_[at_] != word[i]) {
        return Fail(("in literal " + std::string(word) + " (expecting " + Quoted(word[i]) + ")").c_str());
      }
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

// Walks a text that the scanner has found good.
class Decoder {
 public:
  explicit Decoder(std::string_view text) : text_(text) {}

  std::string Decode(std::string_view type, const std::vector<GoField>& fields) {
    if (text_[0] == '{') {
      DecodeObject(fields);
    } else if (text_[0] != 'n') {
      error_ = "json: cannot unmarshal " + std::string(Kind()) + " into Go value of type " + std::string(type);
    }
    return error_;
  }

 private:
  std::string_view Kind() const {
    switch (text_[at_]) {
      case '{':
        return "object";
      case '[':
        return "array";
      case '"':
        return "string";
      case 't':
      case 'f':
        return "bool";
      default:
        return "number";
    }
  }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  static bool SameName(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
      if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
  }

  // Recursion is as deep as the structs are.
  void DecodeObject(const std::vector<GoField>& fields) {
    ++at_;
    SkipSpace();
    while (text_[at_] != '}') {
      const std::string name = TakeString();
      SkipSpace();
      ++at_;  // ':'
      SkipSpace();
      const GoField* field = nullptr;
      for (const GoField& known : fields) {
        if (SameName(known.name, name)) field = &known;
      }
      DecodeField(field);
      SkipSpace();
      if (text_[at_] == ',') ++at_;
      SkipSpace();
    }
    ++at_;
  }

  void DecodeField(const GoField* field) {
    const char c = text_[at_];
    if (field == nullptr || c == 'n') return SkipValue();  // null leaves a string or a struct as it is
    if (field->text != nullptr ? c == '"' : c == '{') {
      if (field->text != nullptr) {
        *field->text = TakeString();
      } else {
        DecodeObject(field->fields);
      }
      return;
    }
    if (error_.empty()) {
      error_ = "json: cannot unmarshal " + std::string(Kind()) + " into Go struct field " + std::string(field->path) +
               " of type " + std::string(field->type);
    }
    SkipValue();
  }

  void SkipValue() {
    std::size_t depth = 0;
    do {
      SkipSpace();
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++at_;
      } else if (c == '"') {
        SkipString();
      } else if (c == ',' || c == ':') {
        ++at_;
      } else {
        while (at_ < text_.size() && std::string_view(",:]}").find(text_[at_]) == std::string_view::npos &&
               !IsSpace(text_[at_])) {
          ++at_;
        }
      }
    } while (depth > 0);
  }
  void SkipString() {
    ++at_;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
  }

  std::uint32_t TakeHex4() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) code = code * 16 + static_cast<std::uint32_t>(HexValue(text_[at_++]));
    return code;
  }

  std::string TakeString() {
    std::string value;
    ++at_;
    while (text_[at_] != '"') {
      if (text_[at_] != '\\') {
        const Utf8Character character = FirstCharacter(text_.substr(at_, 4));
        if (character.length == 0) {
          AppendUtf8(value, kReplacement);
          ++at_;
        } else {
          value.append(text_, at_, character.length);
          at_ += character.length;
        }
        continue;
      }
      const char escape = text_[at_ + 1];
      at_ += 2;
      if (escape != 'u') {
        const std::size_t place = std::string_view("bfnrt").find(escape);
        value.push_back(place == std::string_view::npos ? escape : "\b\f\n\r\t"[place]);
        continue;
      }
      std::uint32_t code = TakeHex4();
      if (code >= 0xD800 && code <= 0xDFFF) {
        std::uint32_t pair = 0;
        if (code < 0xDC00 && text_[at_] == '\\' && text_[at_ + 1] == 'u') {
          const std::size_t before = at_;
          at_ += 2;
          const std::uint32_t low = TakeHex4();
          if (low >= 0xDC00 && low <= 0xDFFF) {
            pair = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
          } else {
            at_ = before;
          }
        }
        code = pair != 0 ? pair : kReplacement;
      }
      AppendUtf8(value, code);
    }
    ++at_;
    return value;
  }

  std::string text_;
  std::size_t at_ = 0;
  std::string error_;
};

// Go writes floats from here on with an exponent.
constexpr double kFixedBelow = 1e21;

// As Go writes `any`. Depth is bounded by the caller's check.
void AppendValue(std::string& out, const nlohmann::json& value) {
  if (value.is_object()) {
    out.push_back('{');
    bool first = true;
    for (const auto& [key, member] : value.items()) {
      if (!first) out.push_back(',');
      first = false;
      AppendGoString(out, key);
      out.push_back(':');
      AppendValue(out, member);
    }
    out.push_back('}');
  } else if (value.is_array()) {
    out.push_back('[');
    bool first = true;
    for (const auto& item : value) {
      if (!first) out.push_back(',');
      first = false;
      AppendValue(out, item);
    }
    out.push_back(']');
  } else if (value.is_string()) {
    AppendGoString(out, value.get_ref<const std::string&>());
  } else if (value.is_number_float() && value == std::trunc(value.get<double>()) &&
             std::abs(value.get<double>()) < kFixedBelow) {
    // Go has float64 for every number and writes whole ones without a fraction.
    std::array<char, 32> digits{};
    const int length = std::snprintf(digits.data(), digits.size(), "%.0f", value.get<double>());
    out.append(digits.data(), static_cast<std::size_t>(length));
  } else {
    out += value.dump();
  }
}

// Values of results nest a few levels; more is refused rather than recursed into.
constexpr int kValueDepthMax = 256;

}  // namespace

void AppendGoEscaped(std::string& out, std::string_view text) {
  std::size_t plain = 0;  // begin of what can be copied as it is
  std::size_t at = 0;
  const auto flush = [&] { out.append(text, plain, at - plain); };
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (kPlain[byte]) {
      ++at;
      continue;
    }
    if (byte < 0x80) {
      flush();
      switch (text[at]) {
        case '"':
        case '\\':
          out.push_back('\\');
          out.push_back(text[at]);
          break;
        case '\b':
          out += "\\b";
          break;
        case '\f':
          out += "\\f";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        default:
          AppendEscape(out, byte);
      }
      plain = ++at;
      continue;
    }
    const Utf8Character character = FirstCharacter(text.substr(at, 4));
    if (character.length == 0) {
      flush();
      AppendEscape(out, kReplacement);
      plain = ++at;
    } else if (character.code == 0x2028 || character.code == 0x2029) {
      flush();
      AppendEscape(out, character.code);
      plain = at += character.length;
    } else {
      at += character.length;
    }
  }
  flush();
}

void AppendGoString(std::string& out, std::string_view text) {
  out.push_back('"');
  AppendGoEscaped(out, text);
  out.push_back('"');
}

bool AppendGoJson(std::string& out, std::string_view json) {
  const auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth < kValueDepthMax; };
  const nlohmann::json value = nlohmann::json::parse(json, shallow, false);
  if (value.is_discarded()) return false;
  AppendValue(out, value);
  return true;
}

std::string DecodeGoStruct(std::string_view body, std::string_view type, const std::vector<GoField>& fields) {
  Scanner scanner(body);
  if (std::string error = scanner.Scan(); !error.empty()) return error;
  return Decoder(body.substr(scanner.begin, scanner.end - scanner.begin)).Decode(type, fields);
}

}  // namespace opensandbox::emulator

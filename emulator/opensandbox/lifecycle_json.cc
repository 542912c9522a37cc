#include "emulator/opensandbox/lifecycle_json.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

// Deeper nesting is answered like Python's RecursionError. The real limit hangs on the C stack; this one keeps ours
// safe.
constexpr int kDepthMax = 1000;
// sys.int_info.default_max_str_digits.
constexpr std::size_t kIntDigitsMax = 4300;
// Objects larger than this look their keys up in a hash table while they are read.
constexpr std::size_t kLinearKeysMax = 16;

void AppendUtf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// The C scanner of Python's json module, step by step.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ParsedJson Parse() {
    SkipBlanks();
    Json value;
    if (!Value(value, 0)) return Failure();
    SkipBlanks();
    if (at_ != text_.size()) {
      Fail("Extra data", at_);
      return Failure();
    }
    return value;
  }

 private:
  ParsedJson Failure() const {
    if (undecodable_) return JsonUndecodable{};
    return JsonSyntaxError{error_, Utf8Length(text_.substr(0, error_at_))};
  }
  bool Fail(std::string message, std::size_t at) {
    error_ = std::move(message);
    error_at_ = at;
    return false;
  }
  bool Undecodable() {
    undecodable_ = true;
    return false;
  }

  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool Is(char c) const { return !AtEnd() && text_[at_] == c; }
  void SkipBlanks() {
    while (Is(' ') || Is('\t') || Is('\n') || Is('\r')) ++at_;
  }
  bool Literal(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool Value(Json& out, int depth) {
    if (depth > kDepthMax) return Undecodable();
    switch (Peek()) {
      case '"': {
        std::string text;
        ++at_;
        if (!String(text)) return false;
        out = Json::String(std::move(text));
        return true;
      }
      case '{':
        if (AtEnd()) break;
        ++at_;
        return Object(out, depth);
      case '[':
        ++at_;
        return Array(out, depth);
      default:
        break;
    }
    if (Literal("null")) {
      out = Json();
    } else if (Literal("true")) {
      out = Json::Bool(true);
    } else if (Literal("false")) {
      out = Json::Bool(false);
    } else if (Literal("NaN")) {
      out = Json::Float(std::nan(""));
    } else if (Literal("Infinity")) {
      out = Json::Float(HUGE_VAL);
    } else if (Literal("-Infinity")) {
      out = Json::Float(-HUGE_VAL);
    } else {
      return Number(out);
    }
    return true;
  }

  bool Object(Json& out, int depth) {
    out = Json::Object();
    std::unordered_map<std::string, std::size_t> index;
    SkipBlanks();
    if (Is('}')) {
      ++at_;
      return true;
    }
    while (true) {
      if (!Is('"')) return Fail("Expecting property name enclosed in double quotes", at_);
      ++at_;
      std::string key;
      if (!String(key)) return false;
      SkipBlanks();
      if (!Is(':')) return Fail("Expecting ':' delimiter", at_);
      ++at_;
      SkipBlanks();
      Json value;
      if (!Value(value, depth + 1)) return false;
      Insert(out.members(), index, std::move(key), std::move(value));
      SkipBlanks();
      if (Is('}')) {
        ++at_;
        return true;
      }
      if (!Is(',')) return Fail("Expecting ',' delimiter", at_);
      const std::size_t comma = at_++;
      SkipBlanks();
      if (Is('}')) return Fail("Illegal trailing comma before end of object", comma);
    }
  }

  // As in a Python dict an equal key keeps its first place and gets the last value.
  static void Insert(Json::Members& members, std::unordered_map<std::string, std::size_t>& index, std::string key,
                     Json value) {
    if (members.size() < kLinearKeysMax) {
      for (auto& [known, old] : members) {
        if (known == key) {
          old = std::move(value);
          return;
        }
      }
    } else {
      if (index.empty()) {
        for (std::size_t i = 0; i < members.size(); ++i) index.emplace(members[i].first, i);
      }
      const auto [found, inserted] = index.emplace(key, members.size());
      if (!inserted) {
        members[found->second].second = std::move(value);
        return;
      }
    }
    members.emplace_back(std::move(key), std::move(value));
  }

  bool Array(Json& out, int depth) {
    out = Json::Array();
    SkipBlanks();
    if (Is(']')) {
      ++at_;
      return true;
    }
    while (true) {
      Json value;
      if (!Value(value, depth + 1)) return false;
      out.items().push_back(std::move(value));
      SkipBlanks();
      if (Is(']')) {
        ++at_;
        return true;
      }
      if (!Is(',')) return Fail("Expecting ',' delimiter", at_);
      const std::size_t comma = at_++;
      SkipBlanks();
      if (Is(']')) return Fail("Illegal trailing comma before end of array", comma);
    }
  }

  // Behind the opening quote.
  bool String(std::string& out) {
    const std::size_t opening = at_ - 1;
    while (true) {
      if (AtEnd()) return Fail("Unterminated string starting at", opening);
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return Fail("Invalid control character at", at_);
      if (c != '\\') {
        out.push_back(c);
        ++at_;
        continue;
      }
      if (!Escape(out, opening)) return false;
    }
  }

  // At a backslash.
  bool Escape(std::string& out, std::size_t opening) {
    const std::size_t backslash = at_++;
    if (AtEnd()) return Fail("Unterminated string starting at", opening);
    const char c = text_[at_++];
    static constexpr std::string_view kFrom = "\"\\/bfnrt";
    static constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    if (c != 'u') {
      const std::size_t found = kFrom.find(c);
      if (found == std::string_view::npos) return Fail("Invalid \\escape", backslash);
      out.push_back(kTo[found]);
      return true;
    }
    const std::optional<std::uint32_t> first = FourHexDigits(at_);
    // Python wants one more character behind the digits: the quote at least.
    if (!first.has_value() || at_ + 4 >= text_.size()) return Fail("Invalid \\uXXXX escape", at_ - 1);
    at_ += 4;
    std::uint32_t code = *first;
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      const std::optional<std::uint32_t> second = FourHexDigits(at_ + 2);
      if (second.has_value() && *second >= 0xDC00 && *second < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (*second - 0xDC00);
        at_ += 6;
      }
    }
    AppendUtf8(out, code);  // a lone surrogate gives three bytes that are no UTF-8: see AppendJson
    return true;
  }

  std::optional<std::uint32_t> FourHexDigits(std::size_t at) const {
    if (at + 4 > text_.size()) return std::nullopt;
    std::uint32_t code = 0;
    for (const char c : text_.substr(at, 4)) {
      std::uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<std::uint32_t>(c - '0');
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        digit = static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
      } else {
        return std::nullopt;
      }
      code = code * 16 + digit;
    }
    return code;
  }

  bool IsDigitAt(std::size_t at) const { return at < text_.size() && text_[at] >= '0' && text_[at] <= '9'; }

  bool Number(Json& out) {
    const std::size_t start = at_;
    std::size_t end = at_;
    if (end < text_.size() && text_[end] == '-') ++end;
    if (!IsDigitAt(end)) return Fail("Expecting value", start);
    if (text_[end] == '0') {
      ++end;
    } else {
      while (IsDigitAt(end)) ++end;
    }
    bool is_float = false;
    if (end < text_.size() && text_[end] == '.' && IsDigitAt(end + 1)) {
      is_float = true;
      ++end;
      while (IsDigitAt(end)) ++end;
    }
    if (end < text_.size() && (text_[end] | 0x20) == 'e') {
      std::size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (IsDigitAt(exponent)) {
        is_float = true;
        while (IsDigitAt(exponent)) ++exponent;
        end = exponent;
      }
    }
    const std::string_view literal = text_.substr(start, end - start);
    at_ = end;
    if (is_float) {
      out = Json::Float(std::strtod(std::string(literal).c_str(), nullptr));
      return true;
    }
    if (literal.size() - (literal.front() == '-' ? 1 : 0) > kIntDigitsMax) return Undecodable();
    out = Json::Int(literal);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
  std::size_t error_at_ = 0;
  bool undecodable_ = false;
};

}  // namespace

Json Json::Bool(bool value) {
  Json json;
  json.kind_ = Kind::kBool;
  json.boolean_ = value;
  return json;
}

Json Json::Int(std::string_view digits) {
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  const std::size_t significant = digits.find_first_not_of('0');
  Json json;
  json.kind_ = Kind::kInt;
  if (significant == std::string_view::npos) {
    json.text_.push_back('0');
  } else {
    if (negative) json.text_.push_back('-');
    json.text_.append(digits.substr(significant));
  }
  return json;
}

Json Json::Float(double value) {
  Json json;
  json.kind_ = Kind::kFloat;
  json.number_ = value;
  return json;
}

Json Json::String(std::string value) {
  Json json;
  json.kind_ = Kind::kString;
  json.text_ = std::move(value);
  return json;
}

Json Json::Array() {
  Json json;
  json.kind_ = Kind::kArray;
  return json;
}

Json Json::Object() {
  Json json;
  json.kind_ = Kind::kObject;
  return json;
}

const Json* Json::Find(std::string_view key) const {
  for (const auto& [name, value] : members_) {
    if (name == key) return &value;
  }
  return nullptr;
}

ParsedJson ParsePythonJson(std::string_view bytes) {
  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes.substr(0, 3) == kByteOrderMark) bytes.remove_prefix(3);
  if (!IsUtf8(bytes)) return JsonUndecodable{};
  return Parser(bytes).Parse();
}

void AppendJsonString(std::string& out, std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out.push_back('"');
  std::size_t plain = 0;  // start of what needs no escape
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    out.push_back('\\');
    switch (c) {
      case '"':
      case '\\':
        out.push_back(static_cast<char>(c));
        break;
      case '\n':
        out.push_back('n');
        break;
      case '\r':
        out.push_back('r');
        break;
      case '\t':
        out.push_back('t');
        break;
      case '\b':
        out.push_back('b');
        break;
      case '\f':
        out.push_back('f');
        break;
      default:
        out.append("u00");
        out.push_back(kDigits[c >> 4]);
        out.push_back(kDigits[c & 15]);
    }
  }
  out.append(text.substr(plain));
  out.push_back('"');
}

bool AppendJson(std::string& out, const Json& value) {
  switch (value.kind()) {
    case Json::Kind::kNull:
      out.append("null");
      return true;
    case Json::Kind::kBool:
      out.append(value.boolean() ? "true" : "false");
      return true;
    case Json::Kind::kInt:
      out.append(value.text());
      return true;
    case Json::Kind::kFloat:
      if (!std::isfinite(value.number())) return false;
      out.append(FloatRepr(value.number()));
      return true;
    case Json::Kind::kString:
      AppendJsonString(out, value.text());
      return IsUtf8(value.text());
    case Json::Kind::kArray: {
      out.push_back('[');
      for (std::size_t i = 0; i < value.items().size(); ++i) {
        if (i > 0) out.push_back(',');
        if (!AppendJson(out, value.items()[i])) return false;
      }
      out.push_back(']');
      return true;
    }
    case Json::Kind::kObject: {
      out.push_back('{');
      bool first = true;
      for (const auto& [name, member] : value.members()) {
        if (!first) out.push_back(',');
        first = false;
        AppendJsonString(out, name);
        out.push_back(':');
        if (!IsUtf8(name) || !AppendJson(out, member)) return false;
      }
      out.push_back('}');
      return true;
    }
  }
  return true;
}

std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  (void)error;  // 64 characters are enough for any double
  const std::string shortest(buffer, end);
  const std::size_t e = shortest.find('e');
  const int exponent = std::atoi(shortest.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return shortest;
  std::string digits;
  const bool negative = shortest.front() == '-';
  for (const char c : shortest.substr(0, e)) {
    if (c >= '0' && c <= '9') digits.push_back(c);
  }
  std::string plain;
  if (negative) plain.push_back('-');
  if (exponent < 0) {
    plain.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
  } else {
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    plain.append(digits, 0, whole).push_back('.');
    plain.append(digits.size() > whole ? digits.substr(whole) : "0");
  }
  return plain;
}

}  // namespace opensandbox::emulator

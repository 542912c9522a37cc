#include <algorithm>
#include <cstdint>

#include "emulator/scenario/json_document.h"

namespace opensandbox::emulator {
namespace {

constexpr int kDepthMax = 64;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

void AppendUtf8(std::uint32_t c, std::string* out) {
  if (c < 0x80) {
    *out += static_cast<char>(c);
  } else if (c < 0x800) {
    *out += static_cast<char>(0xC0 | (c >> 6));
    *out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    *out += static_cast<char>(0xE0 | (c >> 12));
    *out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (c >> 18));
    *out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

// Length of the well-formed UTF-8 character at the front, 0 if there is none.
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = (first >> 5) == 6 ? 2 : (first >> 4) == 14 ? 3 : (first >> 3) == 30 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, beyond U+10FFFF.
  if (first < 0xC2 || (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F) || first > 0xF4) {
    return 0;
  }
  return length;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, std::vector<Problem>* problems)
      : text_(text), file_(file), problems_(problems) {}

  std::optional<JsonNode> Run() {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") position_ = line_start_ = 3;
    if (!SkipBlanks()) return std::nullopt;
    if (AtEnd()) {
      Add("", "found nothing, expected a JSON object");
      return std::nullopt;
    }
    JsonNode root;
    if (!Value("", 0, &root) || !SkipBlanks()) return std::nullopt;
    if (!AtEnd()) Add("", "found " + Here() + " behind the end of the JSON value, expected nothing more");
    return root;
  }

 private:
  bool AtEnd() const { return position_ >= text_.size(); }
  char Now() const { return AtEnd() ? '\0' : text_[position_]; }
  bool Peek(std::string_view word) const { return text_.substr(position_, word.size()) == word; }
  void Step() {
    if (text_[position_] == '\n') {
      ++line_;
      line_start_ = position_ + 1;
    }
    ++position_;
  }

  std::string Here() const {
    if (AtEnd()) return "the end of the file";
    const std::size_t length = Utf8Length(text_.substr(position_));
    if (length == 0) return "a byte that is no UTF-8";
    if (length == 1 && static_cast<unsigned char>(Now()) < 0x20) return "a control character";
    return std::string("'").append(text_.substr(position_, length)).append("'");
  }

  void AddAt(int line, std::size_t column, const std::string& pointer, const std::string& message) {
    problems_->push_back({file_, line, pointer, "column " + std::to_string(column) + ": " + message});
  }
  void Add(const std::string& pointer, const std::string& message) {
    AddAt(line_, position_ - line_start_ + 1, pointer, message);
  }
  // For mistakes behind which nothing can be made out.
  bool Stop(const std::string& pointer, const std::string& message) {
    Add(pointer, message);
    return false;
  }

  // Blanks and comments. False after a comment that never ends.
  bool SkipBlanks() {
    while (!AtEnd()) {
      const char c = Now();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        Step();
      } else if (Peek("//") || c == '#') {
        if (c == '#') Add("", "found '#', expected a comment to begin with '//'");
        while (!AtEnd() && Now() != '\n') Step();
      } else if (Peek("/*")) {
        const std::size_t end = text_.find("*/", position_ + 2);
        if (end == std::string_view::npos) return Stop("", "found the beginning of a comment, expected '*/' to end it");
        while (position_ < end + 2) Step();
      } else {
        return true;
      }
    }
    return true;
  }

  bool Value(const std::string& pointer, int depth, JsonNode* node) {
    node->line = line_;
    if (depth > kDepthMax) {
      return Stop(pointer, "found more than " + std::to_string(kDepthMax) + " levels of nesting");
    }
    const char c = Now();
    if (c == '{') return Object(pointer, depth, node);
    if (c == '[') return Array(pointer, depth, node);
    if (c == '"' || c == '\'') {
      node->kind = JsonNode::Kind::kString;
      String(pointer, &node->text);
      return true;
    }
    if (c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9')) {
      Number(pointer, node);
      return true;
    }
    if (IsNameCharacter(c)) {
      Word(pointer, node);
      return true;
    }
    if (c == ',' || c == '}' || c == ']') {
      Add(pointer, "found " + Here() + ", expected a value");
      node->kind = JsonNode::Kind::kBroken;
      return true;
    }
    return Stop(pointer, "found " + Here() + ", expected a value");
  }

  void Word(const std::string& pointer, JsonNode* node) {
    const std::size_t begin = position_, column = begin - line_start_ + 1;
    while (!AtEnd() && (IsNameCharacter(Now()) || Now() == '-')) Step();
    const std::string_view word = text_.substr(begin, position_ - begin);
    if (word == "true" || word == "false") {
      node->kind = JsonNode::Kind::kBool;
      node->boolean = word == "true";
    } else if (word == "null") {
      node->kind = JsonNode::Kind::kNull;
    } else {
      node->kind = JsonNode::Kind::kBroken;
      AddAt(line_, column, pointer,
            "found the bare word " + std::string(word.substr(0, 40)) +
                ", expected a value (text stands in double quotes)");
    }
  }

  void Number(const std::string& pointer, JsonNode* node) {
    const std::size_t begin = position_, column = begin - line_start_ + 1;
    while (!AtEnd() && (IsNameCharacter(Now()) || Now() == '-' || Now() == '+' || Now() == '.')) Step();
    node->text = std::string(text_.substr(begin, position_ - begin));
    node->kind = JsonNode::Kind::kNumber;
    // -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
    std::string_view rest = node->text;
    const auto digits = [&rest] {
      const std::size_t count = std::min(rest.find_first_not_of("0123456789"), rest.size());
      rest.remove_prefix(count);
      return count;
    };
    if (rest.front() == '-') rest.remove_prefix(1);
    const bool zero = !rest.empty() && rest.front() == '0';
    const std::size_t whole = digits();
    bool good = whole == 1 || (whole > 1 && !zero);
    if (good && !rest.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
      good = digits() > 0;
    }
    if (good && !rest.empty() && (rest.front() == 'e' || rest.front() == 'E')) {
      rest.remove_prefix(1);
      if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) rest.remove_prefix(1);
      good = digits() > 0;
    }
    if (good && rest.empty()) return;
    const bool unit = whole > 0 && !rest.empty() && rest.front() != '.' && !(zero && whole > 1);
    AddAt(line_, column, pointer,
          "found " + node->text.substr(0, 40) + ", expected a number" +
              (unit ? " (with a unit it stands in double quotes)" : " as JSON writes it"));
    node->kind = JsonNode::Kind::kBroken;
  }

  // At the quote. A string that is not closed ends with its line.
  void String(const std::string& pointer, std::string* out) {
    const char quote = Now();
    const std::size_t begin_column = position_ - line_start_ + 1;
    if (quote == '\'') Add(pointer, "found a single quote, expected text in double quotes");
    Step();
    while (true) {
      if (AtEnd() || Now() == '\n') {
        AddAt(line_, begin_column, pointer,
              "found text that does not end on its line, expected a closing " +
                  std::string(quote == '"' ? "double" : "single") + " quote");
        return;
      }
      const char c = Now();
      if (c == quote) {
        Step();
        return;
      }
      if (c == '\\') {
        Escape(pointer, out);
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20 && c != '\r') {
        Add(pointer, std::string("found a ") + (c == '\t' ? "tab" : "control character") + " in text, expected " +
                         (c == '\t' ? "\\t" : "\\u00.."));
      }
      const std::size_t length = Utf8Length(text_.substr(position_));
      if (length == 0) Add(pointer, "found a byte that is no UTF-8 in text");
      for (std::size_t i = 0; i < std::max<std::size_t>(length, 1); ++i) {
        if (length > 0) *out += Now();
        Step();
      }
    }
  }

  void Escape(const std::string& pointer, std::string* out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt'";
    static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t'";
    Step();
    const char c = Now();
    if (AtEnd() || c == '\n') return;  // reported as text that does not end
    if (c == 'u') {
      Step();
      std::optional<std::uint32_t> unit = Hex4(pointer);
      if (!unit) return;
      if (*unit >= 0xD800 && *unit < 0xDC00 && Peek("\\u")) {
        Step();
        Step();
        const std::optional<std::uint32_t> low = Hex4(pointer);
        if (!low) return;
        if (*low >= 0xDC00 && *low < 0xE000) {
          AppendUtf8(0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00), out);
          return;
        }
      }
      if (*unit >= 0xD800 && *unit < 0xE000) {
        Add(pointer, "found half of a surrogate pair in text, expected both \\u escapes");
        return;
      }
      AppendUtf8(*unit, out);
      return;
    }
    const std::size_t index = kNames.find(c);
    if (index == std::string_view::npos) {
      Add(pointer, "found the escape \\" + std::string(1, c) +
                       ", expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u (a backslash itself is written \\\\)");
    } else {
      *out += kValues[index];
    }
    Step();
  }

  std::optional<std::uint32_t> Hex4(const std::string& pointer) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = Now();
      if (c >= '0' && c <= '9') {
        value = value * 16 + static_cast<std::uint32_t>(c - '0');
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        value = value * 16 + static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
      } else {
        Add(pointer, "found " + Here() + " in a \\u escape, expected four hexadecimal digits");
        return std::nullopt;
      }
      Step();
    }
    return value;
  }

  bool Object(const std::string& pointer, int depth, JsonNode* node) {
    node->kind = JsonNode::Kind::kObject;
    const std::string unfinished = "expected '}' for the object that begins on line " + std::to_string(line_);
    Step();
    if (!SkipBlanks()) return false;
    while (Now() != '}') {
      if (AtEnd()) return Stop(pointer, "found the end of the file, " + unfinished);
      JsonMember member;
      member.line = line_;
      if (Now() == '"' || Now() == '\'') {
        String(pointer, &member.name);
      } else if (IsNameCharacter(Now())) {
        const std::size_t begin = position_;
        Add(pointer, "found a name without quotes, expected it in double quotes");
        while (!AtEnd() && IsNameCharacter(Now())) Step();
        member.name = std::string(text_.substr(begin, position_ - begin));
      } else {
        return Stop(pointer, "found " + Here() + ", expected a name in double quotes or '}'");
      }
      const std::string member_pointer = PointerTo(pointer, member.name);
      const JsonMember* earlier = nullptr;
      for (const JsonMember& other : node->members) {
        if (other.name == member.name) earlier = &other;
      }
      if (earlier != nullptr) {
        problems_->push_back({file_, member.line, member_pointer,
                              "found " + Quoted(member.name) + " a second time (first on line " +
                                  std::to_string(earlier->line) + "), expected each name once"});
      }
      if (!SkipBlanks()) return false;
      if (Now() == ':' || Now() == '=') {
        if (Now() == '=') Add(member_pointer, "found '=', expected ':'");
        Step();
      } else {
        return Stop(member_pointer, "found " + Here() + ", expected ':' behind the name " + Quoted(member.name));
      }
      if (!SkipBlanks()) return false;
      if (!Value(member_pointer, depth + 1, &member.value)) return false;
      if (earlier == nullptr) node->members.push_back(std::move(member));
      if (!Separator(pointer, '}', unfinished)) return false;
    }
    Step();
    return true;
  }

  bool Array(const std::string& pointer, int depth, JsonNode* node) {
    node->kind = JsonNode::Kind::kArray;
    const std::string unfinished = "expected ']' for the array that begins on line " + std::to_string(line_);
    Step();
    if (!SkipBlanks()) return false;
    while (Now() != ']') {
      if (AtEnd()) return Stop(pointer, "found the end of the file, " + unfinished);
      JsonNode item;
      if (!Value(PointerTo(pointer, node->items.size()), depth + 1, &item)) return false;
      node->items.push_back(std::move(item));
      if (!Separator(pointer, ']', unfinished)) return false;
    }
    Step();
    return true;
  }

  // Behind a value: ',' and on to the next one, or up to the closing bracket.
  bool Separator(const std::string& pointer, char close, const std::string& unfinished) {
    const int line = line_;
    const std::size_t column = position_ - line_start_ + 1;
    if (!SkipBlanks()) return false;
    if (Now() == close) return true;
    if (AtEnd()) return Stop(pointer, "found the end of the file, " + unfinished);
    if (Now() == ',') {
      const int comma_line = line_;
      const std::size_t comma_column = position_ - line_start_ + 1;
      Step();
      if (!SkipBlanks()) return false;
      if (Now() == close) {
        AddAt(comma_line, comma_column, pointer,
              std::string("found a comma before '") + close + "', expected none behind the last one");
      }
      while (Now() == ',') {
        Add(pointer, "found two commas in a row, expected one");
        Step();
        if (!SkipBlanks()) return false;
      }
      return true;
    }
    const char c = Now();
    const bool begins_next = c == '"' || c == '\'' || (close == ']' && (c == '{' || c == '[' || IsNameCharacter(c))) ||
                             (close == '}' && IsNameCharacter(c));
    if (!begins_next) return Stop(pointer, "found " + Here() + ", expected ',' or '" + close + "'");
    AddAt(line, column, pointer, "found no comma, expected one between this and the next one");
    return true;
  }

  const std::string_view text_;
  const std::string& file_;
  std::vector<Problem>* problems_;
  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

}  // namespace

std::optional<JsonNode> ParseJson(std::string_view text, const std::string& file, std::vector<Problem>* problems) {
  return Parser(text, file, problems).Run();
}

}  // namespace opensandbox::emulator

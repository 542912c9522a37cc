#include "client/providers/json_reader.h"

#include <cstring>

#include "client/providers/utf8.h"

namespace opensandbox::internal {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The first byte that needs a closer look inside a string: quote, backslash, control character or non-ASCII.
const char* SkipPlain(const char* p, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  // Eight bytes at once; a false alarm only ends the fast loop early.
  while (end - p >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, sizeof(word));
    const std::uint64_t quote = word ^ (kOnes * '"');
    const std::uint64_t backslash = word ^ (kOnes * '\\');
    const std::uint64_t special = ((word - kOnes * 0x20) | (quote - kOnes) | (backslash - kOnes) | word) & kHighs;
    if (special != 0) break;
    p += 8;
  }
  while (p != end) {
    const auto c = static_cast<unsigned char>(*p);
    if (c == '"' || c == '\\' || c < 0x20 || c >= 0x80) break;
    ++p;
  }
  return p;
}

bool IsNumber(std::string_view t) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t first = i;
    while (i < t.size() && IsDigit(t[i])) ++i;
    return i > first;
  };
  if (i < t.size() && t[i] == '-') ++i;
  if (i < t.size() && t[i] == '0') {
    ++i;
  } else if (!digits()) {
    return false;
  }
  if (i < t.size() && t[i] == '.') {
    ++i;
    if (!digits()) return false;
  }
  if (i < t.size() && (t[i] == 'e' || t[i] == 'E')) {
    ++i;
    if (i < t.size() && (t[i] == '+' || t[i] == '-')) ++i;
    if (!digits()) return false;
  }
  return i == t.size();
}

bool IsWord(std::string_view t) {
  return t == "true" || t == "false" || t == "null" || t == "NaN" || t == "Infinity" || t == "-Infinity";
}

}  // namespace

void JsonReader::Reset() {
  status_ = Status::kMore;
  state_ = State::kTop;
  depth_ = 0;
  had_replacements_ = false;
  cut_.clear();
  token_.clear();
  high_surrogate_ = 0;
}

std::size_t JsonReader::Feed(std::string_view bytes) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  while (p != end && status_ == Status::kMore) {
    switch (state_) {
      case State::kString:
        p = ReadString(p, end);
        break;
      case State::kToken:
        p = ReadToken(p, end);
        break;
      case State::kEscape:
        ReadEscape(*p);
        if (status_ != Status::kBad) ++p;
        break;
      case State::kHex:
        ReadHex(*p);
        if (status_ != Status::kBad) ++p;
        break;
      default:
        if (!IsBlank(*p)) ReadStructure(*p);
        if (status_ != Status::kBad) ++p;
    }
  }
  return static_cast<std::size_t>(p - bytes.data());
}

const char* JsonReader::ReadString(const char* p, const char* end) {
  if (high_surrogate_ != 0 && *p != '\\') FlushSurrogate();
  while (!cut_.empty()) {
    if (p == end) return p;
    cut_ += *p;
    const Utf8Step step = ClassifyUtf8(cut_);
    if (step.kind == Utf8Step::Kind::kBad) {
      // The byte does not belong to the character: the bytes before it are replaced, and it is read on its own.
      cut_.clear();
      Replace();
      break;
    }
    ++p;
    if (step.kind == Utf8Step::Kind::kWhole) {
      handler_.StringPiece(cut_);
      cut_.clear();
    }
  }
  const char* piece = p;
  const auto hand_over = [&] {
    if (p != piece) handler_.StringPiece({piece, static_cast<std::size_t>(p - piece)});
  };
  while ((p = SkipPlain(p, end)) != end && static_cast<unsigned char>(*p) >= 0x80) {
    const Utf8Step step = ClassifyUtf8({p, static_cast<std::size_t>(end - p)});
    if (step.kind == Utf8Step::Kind::kWhole) {
      p += step.length;
      continue;
    }
    hand_over();
    if (step.kind == Utf8Step::Kind::kCut) {
      cut_.assign(p, end);
      return end;
    }
    Replace();
    p += step.length;
    piece = p;
  }
  hand_over();
  if (p == end) return p;
  if (*p == '"') {
    handler_.EndString();
    if (string_is_key_) {
      state_ = State::kColon;
    } else {
      AfterValue();
    }
  } else if (*p == '\\') {
    state_ = State::kEscape;
  } else {
    Bad();
    return p;
  }
  return p + 1;
}

void JsonReader::ReadEscape(char c) {
  if (c == 'u') {
    hex_digits_ = 0;
    hex_ = 0;
    state_ = State::kHex;
    return;
  }
  FlushSurrogate();
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  const std::size_t index = kNames.find(c);
  if (index == std::string_view::npos) return Bad();
  handler_.StringPiece(kValues.substr(index, 1));
  state_ = State::kString;
}

void JsonReader::ReadHex(char c) {
  std::uint32_t digit = 0;
  if (IsDigit(c)) {
    digit = static_cast<std::uint32_t>(c - '0');
  } else if (c >= 'a' && c <= 'f') {
    digit = static_cast<std::uint32_t>(c - 'a' + 10);
  } else if (c >= 'A' && c <= 'F') {
    digit = static_cast<std::uint32_t>(c - 'A' + 10);
  } else {
    return Bad();
  }
  hex_ = hex_ * 16 + digit;
  if (++hex_digits_ < 4) return;
  state_ = State::kString;
  std::uint32_t code_point = hex_;
  if (code_point >= 0xDC00 && code_point < 0xE000) {
    if (high_surrogate_ == 0) return Replace();
    code_point = 0x10000 + ((high_surrogate_ - 0xD800) << 10) + (code_point - 0xDC00);
    high_surrogate_ = 0;
  } else {
    FlushSurrogate();
    if (code_point >= 0xD800 && code_point < 0xDC00) {
      high_surrogate_ = code_point;
      return;
    }
  }
  std::string text;
  AppendUtf8(text, code_point);
  handler_.StringPiece(text);
}

void JsonReader::Replace() {
  had_replacements_ = true;
  handler_.StringPiece(kReplacementCharacter);
}

void JsonReader::FlushSurrogate() {
  if (high_surrogate_ == 0) return;
  high_surrogate_ = 0;
  Replace();
}

const char* JsonReader::ReadToken(const char* p, const char* end) {
  while (p != end && !IsBlank(*p) && *p != ',' && *p != '}' && *p != ']') {
    if (token_.size() == kTokenBytesMax) {
      Bad();
      return p;
    }
    token_ += *p++;
  }
  if (p != end) EndToken();
  return p;
}

void JsonReader::EndToken() {
  if (!IsNumber(token_) && !IsWord(token_)) return Bad();
  handler_.Scalar(token_);
  token_.clear();
  AfterValue();
}

void JsonReader::ReadStructure(char c) {
  switch (state_) {
    case State::kTop:
      return c == '{' ? Open(true) : Bad();
    case State::kFirstKeyOrEnd:
      if (c == '}') return Close(true);
      [[fallthrough]];
    case State::kKey:
      if (c != '"') return Bad();
      string_is_key_ = true;
      state_ = State::kString;
      return handler_.BeginString(true);
    case State::kColon:
      if (c != ':') return Bad();
      state_ = State::kValue;
      return;
    case State::kFirstItemOrEnd:
      if (c == ']') return Close(false);
      [[fallthrough]];
    case State::kValue:
      return BeginValue(c);
    case State::kCommaOrEnd: {
      const bool object = is_object_[depth_ - 1];
      if (c == ',') {
        state_ = object ? State::kKey : State::kValue;
      } else if (c == (object ? '}' : ']')) {
        Close(object);
      } else {
        Bad();
      }
      return;
    }
    default:
      return Bad();
  }
}

void JsonReader::BeginValue(char c) {
  if (c == '{') return Open(true);
  if (c == '[') return Open(false);
  if (c == '"') {
    string_is_key_ = false;
    state_ = State::kString;
    return handler_.BeginString(false);
  }
  if (!IsDigit(c) && c != '-' && std::string_view("tfnNI").find(c) == std::string_view::npos) return Bad();
  token_ = c;
  state_ = State::kToken;
}

void JsonReader::Open(bool object) {
  if (depth_ == kDepthMax) return Bad();
  is_object_[depth_++] = object;
  if (object) {
    state_ = State::kFirstKeyOrEnd;
    handler_.BeginObject();
  } else {
    state_ = State::kFirstItemOrEnd;
    handler_.BeginArray();
  }
}

void JsonReader::Close(bool object) {
  --depth_;
  object ? handler_.EndObject() : handler_.EndArray();
  AfterValue();
}

void JsonReader::AfterValue() {
  if (depth_ == 0) {
    status_ = Status::kDone;
  } else {
    state_ = State::kCommaOrEnd;
  }
}

}  // namespace opensandbox::internal

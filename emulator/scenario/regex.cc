#include "emulator/scenario/regex.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace opensandbox::emulator {
namespace {

constexpr std::size_t kProgramMax = 8192;
constexpr int kDepthMax = 64;
constexpr std::uint32_t kRepeatMax = 1000;
constexpr std::uint32_t kLastCharacter = 0x10FFFF;
// A byte that is no UTF-8 becomes a character behind the last real one.
constexpr std::uint32_t kBadByte = kLastCharacter + 1;

std::uint32_t NextCharacter(std::string_view text, std::size_t* position) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(*position);
  const std::size_t length = first < 0x80         ? 1
                             : (first >> 5) == 6  ? 2
                             : (first >> 4) == 14 ? 3
                             : (first >> 3) == 30 ? 4
                                                  : 0;
  if (length == 0 || *position + length > text.size()) {
    ++*position;
    return kBadByte;
  }
  std::uint32_t character = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(*position + i) & 0xC0) != 0x80) {
      ++*position;
      return kBadByte;
    }
    character = (character << 6) | (byte(*position + i) & 0x3Fu);
  }
  *position += length;
  return character;
}

bool IsWord(std::uint32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

bool Regex::CharacterClass::Contains(std::uint32_t character) const {
  const bool found = std::any_of(ranges.begin(), ranges.end(),
                                 [&](const Range& range) { return character >= range.low && character <= range.high; });
  return found != negated;
}

// Recursive descent; emits code in place. A quantifier moves or copies the code of its atom, whose targets are
// relative until the end.
class RegexCompiler {
 public:
  explicit RegexCompiler(std::string_view pattern) {
    for (std::size_t i = 0; i < pattern.size();) pattern_.push_back(NextCharacter(pattern, &i));
  }

  std::shared_ptr<const Regex> Run(std::string* error) {
    std::optional<Code> code = Alternatives(0);
    if (code && position_ < pattern_.size()) code = Fail("a ')' without its '('");
    if (!code) {
      if (error != nullptr) *error = error_;
      return nullptr;
    }
    code->push_back({Kind::kMatch, 0, 0});
    for (std::size_t i = 0; i < code->size(); ++i) {
      Regex::Instruction& instruction = (*code)[i];
      if (instruction.kind != Kind::kSplit && instruction.kind != Kind::kJump) continue;
      instruction.a += i;  // wraps for a jump backwards, which is well defined
      instruction.b += i;
    }
    regex_->program_ = std::move(*code);
    return regex_;
  }

 private:
  using Kind = Regex::Instruction::Kind;
  using Code = std::vector<Regex::Instruction>;
  using Class = Regex::CharacterClass;

  static std::size_t Back(std::size_t distance) { return std::size_t{0} - distance; }

  std::nullopt_t Fail(std::string message) {
    if (error_.empty()) error_ = message + " at character " + std::to_string(position_ + 1);
    return std::nullopt;
  }
  bool AtEnd() const { return position_ >= pattern_.size(); }
  bool Eat(char c) {
    if (AtEnd() || pattern_[position_] != static_cast<std::uint32_t>(c)) return false;
    ++position_;
    return true;
  }
  bool Peek(char c) const { return !AtEnd() && pattern_[position_] == static_cast<std::uint32_t>(c); }

  Code OneOf(Class character_class) {
    regex_->classes_.push_back(std::move(character_class));
    return {{Kind::kClass, regex_->classes_.size() - 1, 0}};
  }

  std::optional<Code> Alternatives(int depth) {
    if (depth > kDepthMax) return Fail("groups nested too deeply");
    std::optional<Code> left = Sequence(depth);
    while (left && Eat('|')) {
      std::optional<Code> right = Sequence(depth);
      if (!right) return std::nullopt;
      Code both;
      both.push_back({Kind::kSplit, 1, left->size() + 2});
      both.insert(both.end(), left->begin(), left->end());
      both.push_back({Kind::kJump, right->size() + 1, right->size() + 1});
      both.insert(both.end(), right->begin(), right->end());
      if (both.size() > kProgramMax) return Fail("the pattern is too large");
      left = std::move(both);
    }
    return left;
  }

  std::optional<Code> Sequence(int depth) {
    Code code;
    while (!AtEnd() && !Peek('|') && !Peek(')')) {
      std::optional<Code> atom = Atom(depth);
      if (atom) atom = Quantified(std::move(*atom));
      if (!atom) return std::nullopt;
      code.insert(code.end(), atom->begin(), atom->end());
      if (code.size() > kProgramMax) return Fail("the pattern is too large");
    }
    return code;
  }

  std::optional<Code> Quantified(Code atom) {
    std::uint32_t low = 1, high = 1;
    bool endless = false;
    if (Eat('*')) {
      low = 0, endless = true;
    } else if (Eat('+')) {
      endless = true;
    } else if (Eat('?')) {
      low = 0;
    } else if (Eat('{')) {
      const std::optional<std::uint32_t> first = Number();
      if (!first) return Fail("'{' without a number (a literal one is written \\{)");
      low = high = *first;
      if (Eat(',')) {
        const std::optional<std::uint32_t> second = Number();
        endless = !second;
        if (second) high = *second;
      }
      if (!Eat('}')) return Fail("'{' without its '}'");
      if (!endless && high < low) return Fail("a repetition whose limits are the wrong way round");
      if (low > kRepeatMax || high > kRepeatMax) return Fail("a repetition over 1000 times");
    } else {
      return atom;
    }
    Eat('?');  // lazy or greedy makes no difference to whether it fits
    if (Peek('*') || Peek('+') || Peek('?') || Peek('{')) return Fail("two repetitions in a row");

    const std::size_t copies = std::max<std::size_t>(1, endless ? low + 1 : high);
    if ((atom.size() + 2) * copies > kProgramMax) return Fail("the pattern is too large");
    Code code;
    for (std::uint32_t i = 0; i < low; ++i) code.insert(code.end(), atom.begin(), atom.end());
    if (endless) {
      code.push_back({Kind::kSplit, 1, atom.size() + 2});
      code.insert(code.end(), atom.begin(), atom.end());
      code.push_back({Kind::kJump, Back(atom.size() + 1), Back(atom.size() + 1)});
    } else {
      for (std::uint32_t i = low; i < high; ++i) {
        code.push_back({Kind::kSplit, 1, atom.size() + 1});
        code.insert(code.end(), atom.begin(), atom.end());
      }
    }
    return code;
  }

  std::optional<std::uint32_t> Number() {
    std::optional<std::uint32_t> number;
    while (!AtEnd() && pattern_[position_] >= '0' && pattern_[position_] <= '9') {
      number = std::min<std::uint32_t>(number.value_or(0) * 10 + (pattern_[position_] - '0'), kRepeatMax + 1);
      ++position_;
    }
    return number;
  }

  std::optional<Code> Atom(int depth) {
    if (Eat('(')) {
      if (Eat('?') && !Eat(':')) return Fail("a group of a kind that is not supported (only (...) and (?:...))");
      std::optional<Code> inner = Alternatives(depth + 1);
      if (inner && !Eat(')')) return Fail("a '(' without its ')'");
      return inner;
    }
    if (Eat('[')) {
      std::optional<Class> set = Set();
      if (!set) return std::nullopt;
      return OneOf(std::move(*set));
    }
    if (Eat('.')) return OneOf(Class{{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}, true});
    if (Eat('^')) return Code{{Kind::kTextStart, 0, 0}};
    if (Eat('$')) return Code{{Kind::kTextEnd, 0, 0}};
    if (Peek('*') || Peek('+') || Peek('?') || Peek('{')) return Fail("a repetition of nothing");
    if (Eat('\\')) {
      if (Eat('b')) return Code{{Kind::kWordEdge, 0, 0}};
      if (Eat('B')) return Code{{Kind::kNoWordEdge, 0, 0}};
      std::optional<Class> escaped = Escape();
      if (!escaped) return std::nullopt;
      return OneOf(std::move(*escaped));
    }
    const std::uint32_t character = pattern_[position_++];
    return OneOf(Class{{{character, character}}, false});
  }

  // Behind a backslash.
  std::optional<Class> Escape() {
    if (AtEnd()) return Fail("a '\\' at the end");
    const std::uint32_t c = pattern_[position_++];
    const auto one = [](std::uint32_t character) { return Class{{{character, character}}, false}; };
    switch (c) {
      case 'd':
        return Class{{{'0', '9'}}, false};
      case 'D':
        return Class{{{'0', '9'}}, true};
      case 'w':
        return Class{{{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'_', '_'}}, false};
      case 'W':
        return Class{{{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'_', '_'}}, true};
      case 's':
        return Class{{{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x2028, 0x2029}, {0xFEFF, 0xFEFF}}, false};
      case 'S':
        return Class{{{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}, {0x2028, 0x2029}, {0xFEFF, 0xFEFF}}, true};
      case 't':
        return one('\t');
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 'f':
        return one('\f');
      case 'v':
        return one('\v');
      case '0':
        return one(0);
      case 'x':
        return Hex(2);
      case 'u':
        return Hex(4);
      default:
        break;
    }
    if (c >= '1' && c <= '9') return Fail("a back reference, which is not supported");
    if (IsWord(c)) return Fail("an unknown escape");
    return one(c);
  }

  std::optional<Class> Hex(int digits) {
    std::uint32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const std::uint32_t c = AtEnd() ? 0 : pattern_[position_];
      std::uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = c - '0';
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        digit = (c | 0x20) - 'a' + 10;
      } else {
        return Fail("an escape with too few hexadecimal digits");
      }
      value = value * 16 + digit;
      ++position_;
    }
    return Class{{{value, value}}, false};
  }

  // Behind '['.
  std::optional<Class> Set() {
    Class set;
    set.negated = Eat('^');
    while (!Eat(']')) {
      if (AtEnd()) return Fail("a '[' without its ']'");
      std::optional<Class> low = SetItem();
      if (!low) return std::nullopt;
      if (Peek('-') && position_ + 1 < pattern_.size() && pattern_[position_ + 1] != ']') {
        ++position_;
        std::optional<Class> high = SetItem();
        if (!high) return std::nullopt;
        if (!IsSingle(*low) || !IsSingle(*high)) return Fail("a range from or to a whole class");
        if (high->ranges[0].low < low->ranges[0].low) return Fail("a range that is the wrong way round");
        low->ranges[0].high = high->ranges[0].low;
      }
      Append(&set, *low);
    }
    return set;
  }
  std::optional<Class> SetItem() {
    if (Eat('\\')) {
      if (Eat('b')) return Class{{{'\b', '\b'}}, false};
      return Escape();
    }
    const std::uint32_t c = pattern_[position_++];
    return Class{{{c, c}}, false};
  }
  static bool IsSingle(const Class& c) {
    return !c.negated && c.ranges.size() == 1 && c.ranges[0].low == c.ranges[0].high;
  }
  static void Append(Class* set, const Class& item) {
    if (!item.negated) {
      set->ranges.insert(set->ranges.end(), item.ranges.begin(), item.ranges.end());
      return;
    }
    std::vector<Regex::Range> sorted = item.ranges;
    std::sort(sorted.begin(), sorted.end(), [](const auto& x, const auto& y) { return x.low < y.low; });
    std::uint32_t next = 0;
    for (const Regex::Range& range : sorted) {
      if (range.low > next) set->ranges.push_back({next, range.low - 1});
      next = range.high + 1;
    }
    set->ranges.push_back({next, kBadByte});
  }

  std::shared_ptr<Regex> regex_ = std::shared_ptr<Regex>(new Regex);
  std::vector<std::uint32_t> pattern_;
  std::size_t position_ = 0;
  std::string error_;
};

std::shared_ptr<const Regex> Regex::Compile(std::string_view pattern, std::string* error) {
  return RegexCompiler(pattern).Run(error);
}

bool Regex::Search(std::string_view text) const {
  // `marked[i] == step` : instruction i is in the set already.
  std::vector<std::size_t> marked(program_.size(), 0);
  std::vector<std::size_t> states, next_states, pending;
  std::size_t step = 1;
  std::size_t position = 0;
  std::uint32_t previous = kBadByte;
  while (true) {
    const bool at_end = position >= text.size();
    std::size_t after = position;
    const std::uint32_t current = at_end ? kBadByte : NextCharacter(text, &after);
    // Everything reachable without a character, from the surviving states and from a fresh start here.
    pending.assign(states.rbegin(), states.rend());
    pending.insert(pending.begin(), 0);
    states.clear();
    while (!pending.empty()) {
      const std::size_t at = pending.back();
      pending.pop_back();
      if (marked[at] == step) continue;
      marked[at] = step;
      const Instruction& instruction = program_[at];
      switch (instruction.kind) {
        case Instruction::Kind::kMatch:
          return true;
        case Instruction::Kind::kClass:
          states.push_back(at);
          break;
        case Instruction::Kind::kJump:
          pending.push_back(instruction.a);
          break;
        case Instruction::Kind::kSplit:
          pending.push_back(instruction.b);
          pending.push_back(instruction.a);
          break;
        case Instruction::Kind::kTextStart:
          if (position == 0) pending.push_back(at + 1);
          break;
        case Instruction::Kind::kTextEnd:
          if (at_end) pending.push_back(at + 1);
          break;
        case Instruction::Kind::kWordEdge:
        case Instruction::Kind::kNoWordEdge: {
          const bool edge = (position > 0 && IsWord(previous)) != (!at_end && IsWord(current));
          if (edge == (instruction.kind == Instruction::Kind::kWordEdge)) pending.push_back(at + 1);
          break;
        }
      }
    }
    if (at_end) return false;
    next_states.clear();
    for (const std::size_t at : states) {
      if (classes_[program_[at].a].Contains(current)) next_states.push_back(at + 1);
    }
    states.swap(next_states);
    previous = current;
    position = after;
    ++step;
  }
}

}  // namespace opensandbox::emulator

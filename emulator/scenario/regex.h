// Regular expressions of scenario files, matched in linear time and constant stack.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_REGEX_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_REGEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace opensandbox::emulator {

// std::regex matches recursively: a thousand characters overflow the 256 KiB stack of a connection's thread, and some
// patterns take exponential time. A pattern here becomes a small program that all its possible states walk through
// together, one character of the text at a time.
//
// Syntax (a subset of ECMAScript's): literals, '.', classes "[a-z]", "[^x]", \d \D \w \W \s \S \b \B, \t \n \r \f \v
// \0 \xHH \uHHHH, escaped punctuation, ^ and $ (start and end of the text), groups "(...)" and "(?:...)", '|', and the
// quantifiers * + ? {m} {m,} {m,n}, each also with a '?' behind it. Refused: look-around, back references, named
// groups. Text is UTF-8; a byte that is no UTF-8 is a character of its own that only '.' and negated classes match.
class Regex {
 public:
  // Null and one line in `error` if the pattern is not understood or too large.
  static std::shared_ptr<const Regex> Compile(std::string_view pattern, std::string* error);

  // Whether the pattern fits anywhere in the text. Time: length of text times size of pattern.
  bool Search(std::string_view text) const;

 private:
  friend class RegexCompiler;
  struct Range {
    std::uint32_t low = 0, high = 0;
  };
  struct Instruction {
    enum class Kind { kClass, kSplit, kJump, kTextStart, kTextEnd, kWordEdge, kNoWordEdge, kMatch };
    Kind kind = Kind::kMatch;
    std::size_t a = 0, b = 0;  // targets of kSplit and kJump; index of the class
  };
  struct CharacterClass {
    std::vector<Range> ranges;
    bool negated = false;
    bool Contains(std::uint32_t character) const;
  };

  Regex() = default;

  std::vector<Instruction> program_;
  std::vector<CharacterClass> classes_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_REGEX_H_

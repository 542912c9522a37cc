#include "emulator/scenario/regex.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <string>

#include "emulator/scenario/engine.h"

namespace opensandbox::emulator {
namespace {

struct SearchCase {
  const char* name;
  const char* pattern;
  const char* text;
  bool fits;
};
void PrintTo(const SearchCase& row, std::ostream* out) { *out << row.name; }

class RegexSearchTest : public testing::TestWithParam<SearchCase> {};

TEST_P(RegexSearchTest, Fits) {
  std::string error;
  const auto regex = Regex::Compile(GetParam().pattern, &error);
  ASSERT_NE(regex, nullptr) << error;
  EXPECT_EQ(regex->Search(GetParam().text), GetParam().fits) << GetParam().pattern << " in " << GetParam().text;
}

constexpr SearchCase kSearchCases[] = {
    {"LiteralAnywhere", "while True", "x\nwhile True: pass", true},
    {"LiteralMissing", "while True", "while False", false},
    {"EmptyPattern", "", "", true},
    {"Dot", "a.c", "abc", true},
    {"DotIsNoNewline", "a.c", "a\nc", false},
    {"DotIsOneCharacter", "^.$", "\xC3\xA9", true},
    {"DotTakesABadByte", "^a.b$",
     "a\xFF"
     "b",
     true},
    {"Star", "^ab*c$", "abbbc", true},
    {"StarNone", "^ab*c$", "ac", true},
    {"PlusNeedsOne", "^ab+c$", "ac", false},
    {"Optional", "^ab?c$", "ac", true},
    {"OptionalTwice", "^ab?c$", "abbc", false},
    {"Counted", "^a{2,3}$", "aaa", true},
    {"CountedTooMany", "^a{2,3}$", "aaaa", false},
    {"CountedTooFew", "^a{2,3}$", "a", false},
    {"CountedExact", "^(ab){2}$", "abab", true},
    {"CountedOpen", "^a{2,}$", "aaaaa", true},
    {"CountedZero", "^a{0}$", "", true},
    {"Lazy", "^a+?b$", "aab", true},
    {"AlternativeFirst", "^(cat|dog)$", "cat", true},
    {"AlternativeSecond", "^(cat|dog)$", "dog", true},
    {"AlternativeNone", "^(cat|dog)$", "cow", false},
    {"AlternativeEmpty", "^(a|)$", "", true},
    {"NestedStar", "^(a*)*$", "aaaa", true},
    {"NonCapturing", "^(?:ab)+$", "abab", true},
    {"Class", "^[a-c]+$", "abcabc", true},
    {"ClassMiss", "^[a-c]+$", "abd", false},
    {"ClassNegated", "^[^0-9]+$", "abc", true},
    {"ClassNegatedMiss", "^[^0-9]+$", "ab1", false},
    {"ClassHyphenLast", "^[a-]+$", "a-a", true},
    {"ClassWithEscape", "^[\\d.]+$", "1.5", true},
    {"ClassWithNegatedEscape", "^[\\D]+$", "1", false},
    {"ClassRangeBeyondAscii", "^[\xC3\xA0-\xC3\xBF]$", "\xC3\xA9", true},
    {"Digit", "^\\d+$", "42", true},
    {"Word", "^\\w+$", "a_1", true},
    {"Space", "a\\sb", "a\tb", true},
    {"NotSpace", "^\\S+$", "a b", false},
    {"WordEdge", "\\bend\\b", "the end.", true},
    {"WordEdgeMiss", "\\bend\\b", "bending", false},
    {"NoWordEdge", "\\Bend", "bending", true},
    {"EscapedDot", "^a\\.b$", "axb", false},
    {"EscapedSlash", "^a\\/b$", "a/b", true},
    {"HexEscape", "^\\x41$", "A", true},
    {"UnicodeEscape", "^\\u00e9$", "\xC3\xA9", true},
    {"StartOnlyAtStart", "^b", "ab", false},
    {"EndOnlyAtEnd", "a$", "ab", false},
    {"NoMultiline", "^b$", "a\nb\nc", false},
    {"StartInTheMiddle", "a^b", "ab", false},
};
INSTANTIATE_TEST_SUITE_P(All, RegexSearchTest, testing::ValuesIn(kSearchCases),
                         [](const auto& row) { return std::string(row.param.name); });

struct RefusalCase {
  const char* name;
  const char* pattern;
  const char* error;
};
void PrintTo(const RefusalCase& row, std::ostream* out) { *out << row.name; }

class RegexRefusalTest : public testing::TestWithParam<RefusalCase> {};

TEST_P(RegexRefusalTest, SaysWhyAndWhere) {
  std::string error;
  EXPECT_EQ(Regex::Compile(GetParam().pattern, &error), nullptr);
  EXPECT_EQ(error, GetParam().error);
}

constexpr RefusalCase kRefusals[] = {
    {"OpenGroup", "(ab", "a '(' without its ')' at character 4"},
    {"CloseGroup", "ab)", "a ')' without its '(' at character 3"},
    {"OpenClass", "[ab", "a '[' without its ']' at character 4"},
    {"NothingToRepeat", "*a", "a repetition of nothing at character 1"},
    {"RepeatTwice", "a**", "two repetitions in a row at character 3"},
    {"BackReference", "(a)\\1", "a back reference, which is not supported at character 6"},
    {"LookAhead", "(?=a)", "a group of a kind that is not supported (only (...) and (?:...)) at character 3"},
    {"UnknownEscape", "\\q", "an unknown escape at character 3"},
    {"HalfEscape", "a\\", "a '\\' at the end at character 3"},
    {"ShortHex", "\\x4", "an escape with too few hexadecimal digits at character 4"},
    {"BraceWithoutNumber", "a{x}", "'{' without a number (a literal one is written \\{) at character 3"},
    {"LimitsSwapped", "a{3,2}", "a repetition whose limits are the wrong way round at character 7"},
    {"RangeSwapped", "[z-a]", "a range that is the wrong way round at character 5"},
    {"TooManyTimes", "a{1001}", "a repetition over 1000 times at character 8"},
    {"TooLarge", "((a{1000}){1000}){1000}", "the pattern is too large at character 17"},
};
INSTANTIATE_TEST_SUITE_P(All, RegexRefusalTest, testing::ValuesIn(kRefusals),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(RegexTest, DeepNestingIsRefusedAndNotDied) {
  std::string error;
  EXPECT_EQ(Regex::Compile(std::string(100000, '('), &error), nullptr);
  EXPECT_EQ(error, "groups nested too deeply at character 66");
}

// The size of the thread stacks that serve connections; std::regex dies there at a thousand characters.
void* SearchLongTexts(void* result) {
  const std::string text(1 << 20, 'a');
  const TextPattern nested{"/^(a|aa)+$/", false, Regex::Compile("^(a|aa)+$", nullptr)};
  const TextPattern missing{"/(a*)*b/", false, Regex::Compile("(a*)*b", nullptr)};
  *static_cast<bool*>(result) = Matches(nested, text) && !Matches(missing, text) && Matches(TextPattern{"*a?a*"}, text);
  return nullptr;
}

TEST(RegexTest, AMegabyteFitsOnASmallStackInLinearTime) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  bool fits = false;
  ASSERT_EQ(pthread_create(&thread, &attributes, SearchLongTexts, &fits), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  EXPECT_TRUE(fits);
}

struct MatchCase {
  const char* name;
  TextPattern pattern;
  const char* value;
  bool matches;
};
void PrintTo(const MatchCase& row, std::ostream* out) { *out << row.name; }

class PatternTest : public testing::TestWithParam<MatchCase> {};

TEST_P(PatternTest, Matches) { EXPECT_EQ(Matches(GetParam().pattern, GetParam().value), GetParam().matches); }

const MatchCase kMatchCases[] = {
    {"Exact", {"python"}, "python", true},
    {"ExactIsTheWhole", {"python"}, "python3", false},
    {"StarAtFront", {"*:broken"}, "img:broken", true},
    {"StarTakesNothing", {"*:broken"}, ":broken", true},
    {"StarIsTheWhole", {"*:broken"}, "img:broken2", false},
    {"StarTwice", {"a*b*c"}, "a-b-b-c", true},
    {"StarTwiceMiss", {"a*b*c"}, "a-c-b", false},
    {"QuestionMark", {"v?"}, "v1", true},
    {"QuestionMarkNeedsOne", {"v?"}, "v", false},
    {"GlobFitsItself", {"what?*"}, "what?*", true},
    {"GlobMatchesNewlines", {"a*c"}, "a\nb\nc", true},
    {"EmptyIsEmpty", {""}, "", true},
    {"EmptyIsNothingElse", {""}, "a", false},
    {"RegexWithoutLoader", {"/b+/"}, "abbc", true},
    {"BadRegexFitsNothing", {"/(/"}, "(", false},
    {"OneSlashIsText", {"/"}, "/", true},
    {"ExactFormOfAGlob", {"a*", true}, "ab", false},
    {"ExactFormOfARegex", {"/tmp/", true}, "/tmp/", true},
};
INSTANTIATE_TEST_SUITE_P(All, PatternTest, testing::ValuesIn(kMatchCases),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace opensandbox::emulator

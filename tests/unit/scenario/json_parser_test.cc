#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/scenario/json_document.h"

namespace opensandbox::emulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Parsed {
  std::optional<JsonNode> root;
  std::vector<std::string> problems;
};

Parsed Parse(std::string_view text) {
  std::vector<Problem> problems;
  Parsed parsed;
  parsed.root = ParseJson(text, "f", &problems);
  for (const Problem& problem : problems) parsed.problems.push_back(problem.Text());
  return parsed;
}

TEST(JsonParserTest, ReadsEverythingThatJsonHas) {
  const Parsed parsed = Parse(R"({"a":[1,-2.5e3,true,false,null,"x\u00e9\ud83d\ude00\n"],"b":{"c":{}}})");
  EXPECT_THAT(parsed.problems, IsEmpty());
  ASSERT_TRUE(parsed.root);
  EXPECT_EQ(CompactJson(*parsed.root), "{\"a\":[1,-2.5e3,true,false,null,\"x\u00e9\U0001F600\\n\"],\"b\":{\"c\":{}}}");
}

TEST(JsonParserTest, CommentsAndAByteOrderMarkAreNoValues) {
  const Parsed parsed = Parse("\xEF\xBB\xBF// one\n{ /* two\n */ \"a\": 1 // three\n}\n/* four */");
  EXPECT_THAT(parsed.problems, IsEmpty());
  ASSERT_TRUE(parsed.root);
  EXPECT_EQ(parsed.root->line, 2);
  EXPECT_EQ(parsed.root->members[0].line, 3);
}

TEST(JsonParserTest, EveryValueKnowsItsLine) {
  const Parsed parsed = Parse("{\n \"a\":\n  [\n   1,\n   {}\n ]\n}");
  ASSERT_TRUE(parsed.root);
  const JsonNode* a = parsed.root->Find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->line, 3);
  ASSERT_EQ(a->items.size(), 2u);
  EXPECT_EQ(a->items[1].line, 5);
}

struct MistakeCase {
  const char* name;
  const char* text;
  const char* problem;
  bool read_on;
};
void PrintTo(const MistakeCase& row, std::ostream* out) { *out << row.name; }

class JsonMistakeTest : public testing::TestWithParam<MistakeCase> {};

TEST_P(JsonMistakeTest, IsNamedWithItsPlace) {
  const Parsed parsed = Parse(GetParam().text);
  EXPECT_THAT(parsed.problems, ElementsAre(GetParam().problem));
  EXPECT_EQ(parsed.root.has_value(), GetParam().read_on);
}

constexpr MistakeCase kMistakes[] = {
    {"Nothing", "", "f:1: /: column 1: found nothing, expected a JSON object", false},
    {"OnlyAComment", "// x\n", "f:2: /: column 1: found nothing, expected a JSON object", false},
    {"TrailingCommaInObject", "{\"a\":1,\n}",
     "f:1: /: column 7: found a comma before '}', expected none behind the last one", true},
    {"TrailingCommaInArray", "[1,]", "f:1: /: column 3: found a comma before ']', expected none behind the last one",
     true},
    {"TwoCommas", "[1,,2]", "f:1: /: column 4: found two commas in a row, expected one", true},
    {"NoCommaInObject", "{\"a\":1\n\"b\":2}",
     "f:1: /: column 7: found no comma, expected one between this and the next one", true},
    {"NoCommaInArray", "[{} {}]", "f:1: /: column 4: found no comma, expected one between this and the next one", true},
    {"SameNameTwice", "{\"a\":1,\n\"a\":2}",
     "f:2: /a: found \"a\" a second time (first on line 1), expected each name once", true},
    {"SingleQuotes", "{'a':1}", "f:1: /: column 2: found a single quote, expected text in double quotes", true},
    {"NameWithoutQuotes", "{a:1}", "f:1: /: column 2: found a name without quotes, expected it in double quotes", true},
    {"EqualsSign", "{\"a\"=1}", "f:1: /a: column 5: found '=', expected ':'", true},
    {"NoColon", "{\"a\" 1}", "f:1: /a: column 6: found '1', expected ':' behind the name \"a\"", false},
    {"NoValue", "{\"a\":}", "f:1: /a: column 6: found '}', expected a value", true},
    {"BareWord", "{\"a\":True}",
     "f:1: /a: column 6: found the bare word True, expected a value (text stands in double quotes)", true},
    {"Unit", "{\"a\":5s}", "f:1: /a: column 6: found 5s, expected a number (with a unit it stands in double quotes)",
     true},
    {"LeadingZero", "[01]", "f:1: /0: column 2: found 01, expected a number as JSON writes it", true},
    {"PlusSign", "[+1]", "f:1: /0: column 2: found +1, expected a number as JSON writes it", true},
    {"PointWithoutDigits", "[1.]", "f:1: /0: column 2: found 1., expected a number as JSON writes it", true},
    {"TextWithoutEnd", "{\"a\":\"xyz\n}",
     "f:1: /a: column 6: found text that does not end on its line, expected a closing double quote", true},
    {"BadEscape", "[\"\\q\"]",
     "f:1: /0: column 4: found the escape \\q, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u (a backslash "
     "itself is written \\\\)",
     true},
    {"ShortUnicodeEscape", "[\"\\u12\"]",
     "f:1: /0: column 7: found '\"' in a \\u escape, expected four hexadecimal digits", true},
    {"HalfASurrogate", "[\"\\ud800\"]",
     "f:1: /0: column 9: found half of a surrogate pair in text, expected both \\u escapes", true},
    {"TabInText", "[\"a\tb\"]", "f:1: /0: column 4: found a tab in text, expected \\t", true},
    {"NoUtf8", "[\"a\xFF\"]", "f:1: /0: column 4: found a byte that is no UTF-8 in text", true},
    {"HashComment", "# x\n{}", "f:1: /: column 1: found '#', expected a comment to begin with '//'", true},
    {"CommentWithoutEnd", "{} /* x", "f:1: /: column 4: found the beginning of a comment, expected '*/' to end it",
     false},
    {"ObjectWithoutEnd", "\n{\"a\":1",
     "f:2: /: column 7: found the end of the file, expected '}' for the object that begins on line 2", false},
    {"ArrayWithoutEnd", "{\"a\":[1,\n2",
     "f:2: /a: column 2: found the end of the file, expected ']' for the array that begins on line 1", false},
    {"TwoValues", "{} {}", "f:1: /: column 4: found '{' behind the end of the JSON value, expected nothing more", true},
    {"EscapedPointer", "{\"a/b~c\":[01]}", "f:1: /a~1b~0c/0: column 11: found 01, expected a number as JSON writes it",
     true},
};
INSTANTIATE_TEST_SUITE_P(All, JsonMistakeTest, testing::ValuesIn(kMistakes),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(JsonParserTest, SeveralMistakesAreAllNamed) {
  const Parsed parsed = Parse("{\"a\": 01,\n 'b': True,\n \"c\": 1,\n \"c\": 2,\n}");
  EXPECT_EQ(parsed.problems.size(), 5u);
}

TEST(JsonParserTest, ALongChainOfBracketsIsRefusedAndNotDied) {
  const Parsed parsed = Parse(std::string(1000000, '['));
  EXPECT_FALSE(parsed.root);
  ASSERT_EQ(parsed.problems.size(), 1u);
  EXPECT_THAT(parsed.problems[0], testing::HasSubstr("found more than 64 levels of nesting"));
}

}  // namespace
}  // namespace opensandbox::emulator

#include "client/providers/execd_event_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace opensandbox::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::uint64_t kCap = 1 << 20;

struct Parsed {
  CodeExecutionResult result;
  bool completed = false;
  bool failed = false;
  bool over_limit = false;
  std::string execution_id;
  std::uint64_t events_count = 0;
};

Parsed Take(ExecdEventParser& parser) {
  Parsed parsed;
  parsed.completed = parser.completed();
  parsed.failed = parser.failed();
  parsed.over_limit = parser.over_limit();
  parsed.execution_id = parser.execution_id();
  parsed.events_count = parser.events_count();
  parsed.result = parser.TakeResult();
  return parsed;
}

// In one call; each other way to cut the same bytes must give the same.
Parsed Parse(std::string_view stream, bool keep_incomplete = false) {
  ExecdEventParser parser(kCap);
  parser.Feed(stream);
  parser.Finish(keep_incomplete);
  return Take(parser);
}

Parsed ParseInPieces(std::string_view stream, std::size_t size) {
  ExecdEventParser parser(kCap);
  for (std::size_t at = 0; at < stream.size(); at += size) parser.Feed(stream.substr(at, size));
  parser.Finish(false);
  return Take(parser);
}

TEST(ExecdEventParserTest, ReadsTheMeasuredSuccessStream) {
  const Parsed parsed = Parse(
      "{\"type\":\"init\",\"text\":\"72860de6\",\"timestamp\":1}\n\n"
      "{\"type\":\"ping\",\"text\":\"pong\",\"timestamp\":1}\n\n"
      "{\"type\":\"stdout\",\"text\":\"1\\n\",\"timestamp\":2}\n\n"
      "{\"type\":\"execution_count\",\"execution_count\":2,\"timestamp\":3}\n\n"
      "{\"type\":\"result\",\"timestamp\":3,\"results\":{\"text\":\"4\"}}\n\n"
      "{\"type\":\"execution_complete\",\"execution_time\":50,\"timestamp\":3}\n\n");
  EXPECT_EQ(parsed.execution_id, "72860de6");
  EXPECT_EQ(parsed.result.stdout_text, "1\n");
  EXPECT_EQ(parsed.result.execution_count, 2);
  EXPECT_THAT(parsed.result.results, ElementsAre(ElementsAre(Pair("text", "4"))));
  EXPECT_TRUE(parsed.completed);
  EXPECT_FALSE(parsed.failed);
  EXPECT_EQ(parsed.events_count, 6u);
  EXPECT_EQ(parsed.result.skipped_lines_count, 0u);
}

TEST(ExecdEventParserTest, ReadsOutputAndErrorBehindTheCompletion) {
  const Parsed parsed = Parse(
      "{\"type\":\"execution_complete\",\"execution_time\":48}\n\n{\"type\":\"status\",\"text\":\"error\"}\n\n"
      "{\"type\":\"stdout\",\"text\":\"late\"}\n\n"
      "{\"type\":\"error\",\"error\":{\"ename\":\"ZeroDivisionError\",\"evalue\":\"division by zero\","
      "\"traceback\":[\"\\u001b[31m---\",\"x\"]}}\n\n");
  EXPECT_TRUE(parsed.completed);
  EXPECT_TRUE(parsed.failed);
  EXPECT_EQ(parsed.result.stdout_text, "late");
  ASSERT_TRUE(parsed.result.error);
  EXPECT_EQ(*parsed.result.error, (ExecutionError{"ZeroDivisionError", "division by zero", {"\x1b[31m---", "x"}}));
}

TEST(ExecdEventParserTest, MapsTheContractsExample) {
  const Parsed parsed = Parse(
      "data: {\"type\":\"stdout\",\"text\":\"42\\n\",\"timestamp\":1}\n"
      "data: {\"type\":\"result\",\"results\":{\"text/plain\":\"4\"}}\n"
      "data: {\"type\":\"execution_count\",\"execution_count\":7}\n"
      "data: {\"type\":\"error\",\"error\":{\"ename\":\"ValueError\",\"evalue\":\"bad\",\"traceback\":[\"Traceback\"]}}"
      "\n{\"code\":\"BadRequest\",\"message\":\"nope\"}\n");
  EXPECT_EQ(parsed.result.stdout_text, "42\n");
  EXPECT_THAT(parsed.result.results, ElementsAre(ElementsAre(Pair("text/plain", "4"))));
  EXPECT_EQ(parsed.result.execution_count, 7);
  EXPECT_EQ(*parsed.result.error, (ExecutionError{"ValueError", "bad", {"Traceback"}}));
  EXPECT_THAT(parsed.result.errors, ElementsAre(ExecutionError{"ValueError", "bad", {"Traceback"}},
                                                ExecutionError{"BadRequest", "nope", {}}));
}

TEST(ExecdEventParserTest, TheBareErrorObjectIsAnErrorAndAnEnd) {
  const Parsed parsed = Parse(
      "{\"type\":\"init\",\"text\":\"c\"}\n\n"
      "{\"code\":\"RUNTIME_ERROR\",\"message\":\"error running codes session is busy\"}");
  EXPECT_TRUE(parsed.failed);
  EXPECT_FALSE(parsed.completed);
  EXPECT_EQ(*parsed.result.error, (ExecutionError{"RUNTIME_ERROR", "error running codes session is busy", {}}));
}

TEST(ExecdEventParserTest, APingBehindTheBareErrorObjectHidesNeither) {
  const Parsed parsed = Parse("{\"code\":\"RUNTIME_ERROR\"}{\"type\":\"ping\",\"text\":\"pong\"}\n\n");
  EXPECT_EQ(parsed.result.error->name, "RUNTIME_ERROR");
  EXPECT_EQ(parsed.result.error->value, "");
  EXPECT_EQ(parsed.events_count, 2u);
  EXPECT_EQ(parsed.result.skipped_lines_count, 0u);
}

TEST(ExecdEventParserTest, SkipsControlLinesWithoutCountingThem) {
  const Parsed parsed = Parse(
      ": keep-alive\nevent: message\nid: 7\nretry: 1000\n\ndata:\ndata: \nevent\n   \n\t\n"
      "{\"type\":\"stdout\",\"text\":\"a\"}\n");
  EXPECT_EQ(parsed.result.stdout_text, "a");
  EXPECT_EQ(parsed.result.skipped_lines_count, 0u);
}

struct SkippedCase {
  const char* name;
  const char* line;
};
void PrintTo(const SkippedCase& row, std::ostream* out) { *out << row.name; }
class SkippedLineTest : public ::testing::TestWithParam<SkippedCase> {};

TEST_P(SkippedLineTest, IsCountedAndHarmsNoNeighbour) {
  const std::string stream = std::string("{\"type\":\"stdout\",\"text\":\"a\"}\n") + GetParam().line +
                             "\n{\"type\":\"stdout\",\"text\":\"b\"}\n";
  const Parsed parsed = Parse(stream);
  EXPECT_EQ(parsed.result.stdout_text, "ab");
  EXPECT_EQ(parsed.result.skipped_lines_count, 1u);
  EXPECT_FALSE(parsed.failed);
  EXPECT_EQ(ParseInPieces(stream, 1).result.stdout_text, "ab");
  EXPECT_EQ(ParseInPieces(stream, 1).result.skipped_lines_count, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    ExecdEventParser, SkippedLineTest,
    ::testing::Values(SkippedCase{"Junk", "garbage"}, SkippedCase{"Number", "42"}, SkippedCase{"List", "[1,2]"},
                      SkippedCase{"Null", "null"}, SkippedCase{"DataNumber", "data: 42"},
                      SkippedCase{"CutJson", "{\"type\":\"stdout\",\"text\":\"x\""},
                      SkippedCase{"CutString", "{\"type\":\"stdout\",\"text\":\"x"},
                      SkippedCase{"CutDataString", "data: {\"type\":\"stdout\",\"text\":\"x"},
                      SkippedCase{"TextBehind", "{\"type\":\"stdout\",\"text\":\"x\"} y"},
                      SkippedCase{"ControlInString", "{\"type\":\"stdout\",\"text\":\"x\ty\"}"},
                      SkippedCase{"BadEscape", "{\"type\":\"stdout\",\"text\":\"x\\q\"}"},
                      SkippedCase{"BadHex", "{\"type\":\"stdout\",\"text\":\"x\\u12g4\"}"},
                      SkippedCase{"TrailingComma", "{\"type\":\"stdout\",\"text\":\"x\",}"},
                      SkippedCase{"LeadingZero", "{\"type\":\"stdout\",\"text\":\"x\",\"n\":01}"},
                      SkippedCase{"BadWord", "{\"type\":\"stdout\",\"text\":\"x\",\"n\":nul}"},
                      SkippedCase{"InvalidUtf8Outside", "{\"type\":\xff\"stdout\",\"text\":\"x\"}"},
                      SkippedCase{"NumberAsText", "{\"type\":\"stdout\",\"text\":5}"},
                      SkippedCase{"ListAsText", "{\"type\":\"stdout\",\"text\":[\"x\"]}"},
                      SkippedCase{"NumberAsType", "{\"type\":5,\"text\":\"x\"}"},
                      SkippedCase{"NoType", "{\"text\":\"x\"}"},
                      SkippedCase{"BoolAsCount", "{\"type\":\"execution_count\",\"execution_count\":true}"},
                      SkippedCase{"FloatAsCount", "{\"type\":\"execution_count\",\"execution_count\":3.0}"},
                      SkippedCase{"TextAsCount", "{\"type\":\"execution_count\",\"execution_count\":\"abc\"}"},
                      SkippedCase{"HugeCount",
                                  "{\"type\":\"execution_count\",\"execution_count\":99999999999999999999}"},
                      SkippedCase{"UnknownField", "foo: bar"}, SkippedCase{"UpperCaseField", "Data: {}"}),
    [](const auto& test) { return test.param.name; });

TEST(ExecdEventParserTest, UnknownTypesAreIgnoredNotCounted) {
  const Parsed parsed = Parse("{\"type\":\"metrics\",\"text\":\"x\",\"deep\":{\"a\":[1,{}]}}\n");
  EXPECT_EQ(parsed.events_count, 1u);
  EXPECT_EQ(parsed.result.skipped_lines_count, 0u);
  EXPECT_EQ(parsed.result.stdout_text, "");
}

TEST(ExecdEventParserTest, NullAndMissingTextAreEmpty) {
  const Parsed parsed = Parse("{\"type\":\"stdout\",\"text\":null}\n{\"type\":\"stderr\"}\n");
  EXPECT_EQ(parsed.result.stdout_text, "");
  EXPECT_EQ(parsed.result.skipped_lines_count, 0u);
  EXPECT_EQ(parsed.events_count, 2u);
}

TEST(ExecdEventParserTest, CountIsAStrictIntegerOrAStringOfOne) {
  EXPECT_EQ(Parse("{\"type\":\"execution_count\",\"execution_count\":\"8\"}\n").result.execution_count, 8);
  EXPECT_EQ(Parse("{\"type\":\"execution_count\",\"execution_count\":\" +8 \"}\n").result.execution_count, 8);
  EXPECT_EQ(Parse("{\"type\":\"execution_count\",\"execution_count\":-3}\n").result.execution_count, -3);
  EXPECT_EQ(Parse("{\"type\":\"execution_count\"}\n").result.execution_count, std::nullopt);
  // The first good one counts.
  EXPECT_EQ(Parse("{\"type\":\"execution_count\",\"execution_count\":1.5}\n"
                  "{\"type\":\"execution_count\",\"execution_count\":4}\n"
                  "{\"type\":\"execution_count\",\"execution_count\":5}\n")
                .result.execution_count,
            4);
}

TEST(ExecdEventParserTest, ResultsKeepStringsAndOtherValuesAsCompactJson) {
  const Parsed parsed = Parse(
      "{\"type\":\"result\",\"results\":{\"text\":\"4\",\"n\":1.50,\"none\":null,\"ok\":true,"
      "\"map\":{ \"a\" : [ 1 , \"q\\\"\\u0001\\n\\u00e9\" , { } ] , \"b\" : [ ] }}}\n");
  EXPECT_THAT(parsed.result.results,
              ElementsAre(ElementsAre(Pair("map", "{\"a\":[1,\"q\\\"\\u0001\\n\xC3\xA9\",{}],\"b\":[]}"),
                                      Pair("n", "1.50"), Pair("none", "null"), Pair("ok", "true"), Pair("text", "4"))));
}

TEST(ExecdEventParserTest, AFlatResultIsTheMessageWithoutItsFrame) {
  const Parsed parsed = Parse(
      "{\"type\":\"result\",\"timestamp\":5,\"execution_count\":2,\"text\":\"t\",\"png\":\"p\",\"traceback\":[1]}\n"
      "{\"png\":\"q\",\"type\":\"result\",\"results\":\"no object\"}\n{\"type\":\"result\"}\n");
  EXPECT_THAT(parsed.result.results,
              ElementsAre(ElementsAre(Pair("png", "p"), Pair("text", "t"), Pair("traceback", "[1]")),
                          ElementsAre(Pair("png", "q"), Pair("results", "no object")), IsEmpty()));
}

struct ErrorCase {
  const char* name;
  const char* line;
  ExecutionError expected;
};
void PrintTo(const ErrorCase& row, std::ostream* out) { *out << row.name; }
class ErrorEventTest : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(ErrorEventTest, KeepsNameAndValue) {
  const Parsed parsed = Parse(std::string(GetParam().line) + "\n");
  EXPECT_TRUE(parsed.failed);
  EXPECT_THAT(parsed.result.errors, ElementsAre(GetParam().expected));
  EXPECT_EQ(parsed.result.error, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    ExecdEventParser, ErrorEventTest,
    ::testing::Values(
        ErrorCase{
            "NullTraceback", R"({"type":"error","error":{"ename":"E","evalue":"v","traceback":null}})", {"E", "v", {}}},
        ErrorCase{"NoTraceback", R"({"type":"error","error":{"ename":"E","evalue":"v"}})", {"E", "v", {}}},
        ErrorCase{"StringTraceback",
                  R"({"type":"error","error":{"ename":"E","evalue":"v","traceback":"t"}})",
                  {"E", "v", {"t"}}},
        ErrorCase{"MixedTraceback",
                  R"({"type":"error","error":{"ename":"E","traceback":["a",1,{"b":[2]},null]}})",
                  {"E", "", {"a", "1", "{\"b\":[2]}", "null"}}},
        ErrorCase{"NameAndValue", R"({"type":"error","error":{"name":"N","value":"w"}})", {"N", "w", {}}},
        ErrorCase{
            "EmptyWins", R"({"type":"error","error":{"ename":"","name":"N","evalue":"","value":"w"}})", {"", "", {}}},
        ErrorCase{"NullFallsBack",
                  R"({"type":"error","error":{"ename":null,"name":"N","evalue":null,"value":"w"}})",
                  {"N", "w", {}}},
        ErrorCase{"NumberValue", R"({"type":"error","error":{"ename":"E","evalue":7}})", {"E", "7", {}}},
        ErrorCase{"Flat", R"({"type":"error","name":"N","text":"t","traceback":["x"]})", {"N", "t", {"x"}}},
        ErrorCase{"FlatValueFirst", R"({"type":"error","name":"N","value":"v","text":"t"})", {"N", "v", {}}},
        ErrorCase{"TypeLast", R"({"traceback":["x",2],"name":"N","text":"t","type":"error"})", {"N", "t", {"x", "2"}}},
        ErrorCase{"ErrorIsText", R"({"type":"error","error":"boom"})", {"", "boom", {}}},
        ErrorCase{"ErrorIsNull", R"({"type":"error","error":null,"name":"N"})", {"N", "", {}}},
        ErrorCase{"Bare", R"({"code":"C","message":"m"})", {"C", "m", {}}},
        ErrorCase{"BareNullMessage", R"({"message":null,"code":500})", {"500", "", {}}}),
    [](const auto& test) { return test.param.name; });

TEST(ExecdEventParserTest, SplitsAtLfCrLfAndCrOnly) {
  const Parsed parsed = Parse(
      "{\"type\":\"stdout\",\"text\":\"a\"}\r\n\r\n{\"type\":\"stdout\",\"text\":\"b\"}\r"
      "{\"type\":\"stdout\",\"text\":\"c\xC2\x85\xE2\x80\xA8\xE2\x80\xA9\x7f\"}\n");
  EXPECT_EQ(parsed.result.stdout_text, "abc\xC2\x85\xE2\x80\xA8\xE2\x80\xA9\x7f");
  EXPECT_EQ(parsed.result.skipped_lines_count, 0u);
}

TEST(ExecdEventParserTest, EveryWayToCutTheBytesGivesTheSame) {
  const std::string stream =
      "\xEF\xBB\xBF{\"type\":\"init\",\"text\":\"id\"}\r\n\r\n"
      "data: {\"type\":\"stdout\",\"text\":\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\\ud83d\\ude00\\u00e9\\\\\\n\"}\n\n"
      "data: {\"type\":\"stderr\",\ndata: \"text\":\"joined\"}\n\n: c\nretry: 3\n"
      "{\"type\":\"result\",\"results\":{\"a\":\"b\",\"c\":[1,\"\xE2\x82\xAC\"]}}{\"type\":\"execution_complete\"}";
  const Parsed whole = Parse(stream);
  EXPECT_EQ(whole.result.stdout_text, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xC3\xA9\\\n");
  EXPECT_EQ(whole.result.stderr_text, "joined");
  EXPECT_TRUE(whole.completed);
  EXPECT_EQ(whole.execution_id, "id");
  EXPECT_EQ(whole.result.skipped_lines_count, 0u);
  EXPECT_FALSE(whole.result.had_invalid_utf8);
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    const Parsed parsed = ParseInPieces(stream, size);
    ASSERT_EQ(parsed.result.stdout_text, whole.result.stdout_text) << size;
    ASSERT_EQ(parsed.result.stderr_text, whole.result.stderr_text) << size;
    ASSERT_EQ(parsed.result.results, whole.result.results) << size;
    ASSERT_EQ(parsed.result.skipped_lines_count, 0u) << size;
    ASSERT_FALSE(parsed.result.had_invalid_utf8) << size;
    ASSERT_TRUE(parsed.completed) << size;
  }
}

TEST(ExecdEventParserTest, InvalidUtf8IsReplacedAndFlagged) {
  const std::string stream =
      "{\"type\":\"stdout\",\"text\":\"a\xFF"
      "b\xE2\x82"
      "c\xF0\x9F\x98\"}\n";  // a truncated character at the end
  const Parsed parsed = Parse(stream);
  EXPECT_EQ(parsed.result.stdout_text,
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD"
            "c\xEF\xBF\xBD");
  EXPECT_TRUE(parsed.result.had_invalid_utf8);
  for (std::size_t size = 1; size < 8; ++size) {
    EXPECT_EQ(ParseInPieces(stream, size).result.stdout_text, parsed.result.stdout_text);
    EXPECT_TRUE(ParseInPieces(stream, size).result.had_invalid_utf8);
  }
}

TEST(ExecdEventParserTest, LoneSurrogatesAreReplacedAndFlagged) {
  const Parsed parsed =
      Parse("{\"type\":\"stdout\",\"text\":\"\\ud83dx\\ude00\\ud83d\\n\\ud83d\\ud83d\\ude00\\ud83d\"}\n");
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(parsed.result.stdout_text, r + "x" + r + r + "\n" + r + "\xF0\x9F\x98\x80" + r);
  EXPECT_TRUE(parsed.result.had_invalid_utf8);
}

TEST(ExecdEventParserTest, AByteOrderMarkHidesNoEvent) {
  EXPECT_EQ(Parse("\xEF\xBB\xBF{\"type\":\"stdout\",\"text\":\"a\"}\n").result.stdout_text, "a");
  const Parsed half = Parse("\xEF\xBB{\"type\":\"stdout\",\"text\":\"a\"}\n{\"type\":\"stdout\",\"text\":\"b\"}\n");
  EXPECT_EQ(half.result.stdout_text, "b");
  EXPECT_EQ(half.result.skipped_lines_count, 1u);
}

TEST(ExecdEventParserTest, JoinsDataLinesOfOneSseEventButNotWholeOnes) {
  const Parsed parsed = Parse(
      "data: {\"type\":\"stdout\",\nid: 4\n: comment\ndata: \"text\":\ndata: \"a\"}\n\n"
      "data: {\"type\":\"stdout\",\"text\":\"b\"}\ndata: {\"type\":\"stdout\",\"text\":\"c\"}\n\n"
      "data: {\"type\":\"stdout\",\n\ndata: {\"type\":\"stdout\",\"text\":\"d\"}\n\n"
      "data: {\"type\":\"stdout\",\n{\"type\":\"stdout\",\"text\":\"e\"}\n");
  EXPECT_EQ(parsed.result.stdout_text, "abcde");
  EXPECT_EQ(parsed.result.skipped_lines_count, 2u);
}

TEST(ExecdEventParserTest, FieldsMayComeInAnyOrderAndTheLastOfTwoCounts) {
  EXPECT_EQ(Parse("{\"text\":\"a\",\"type\":\"stderr\"}\n").result.stderr_text, "a");
  EXPECT_EQ(Parse("{\"type\":\"stdout\",\"text\":\"long\",\"text\":\"b\"}\n").result.stdout_text, "b");
  const Parsed moved = Parse("{\"type\":\"stdout\",\"text\":\"c\",\"type\":\"stderr\"}\n");
  EXPECT_EQ(moved.result.stdout_text, "");
  EXPECT_EQ(moved.result.stderr_text, "c");
  EXPECT_THAT(Parse("{\"type\":\"result\",\"results\":{\"a\":\"1\"},\"results\":{\"b\":\"2\"}}\n").result.results,
              ElementsAre(ElementsAre(Pair("b", "2"))));
}

TEST(ExecdEventParserTest, DeepNestingAndHugeNumbersAreSkippedWithoutHarm) {
  const std::string deep = "{\"type\":\"result\",\"results\":{\"a\":" + std::string(100000, '[');
  const std::string number = "{\"type\":\"result\",\"n\":" + std::string(5000, '9') + "}";
  const Parsed parsed = Parse(deep + "\n" + number + "\n{\"type\":\"stdout\",\"text\":\"a\"}\n");
  EXPECT_EQ(parsed.result.stdout_text, "a");
  EXPECT_EQ(parsed.result.skipped_lines_count, 2u);
  EXPECT_THAT(parsed.result.results, IsEmpty());
}

TEST(ExecdEventParserTest, PythonsNumbersOutsideJsonAreTaken) {
  EXPECT_THAT(Parse("{\"type\":\"result\",\"results\":{\"a\":NaN,\"b\":[-Infinity,Infinity]}}\n").result.results,
              ElementsAre(ElementsAre(Pair("a", "NaN"), Pair("b", "[-Infinity,Infinity]"))));
}

TEST(ExecdEventParserTest, ByteExactBlankLinesAndCrLfInText) {
  EXPECT_EQ(Parse("{\"type\":\"stdout\",\"text\":\"\\n\\n a\\r\\n\\r\\n\\n\"}\n").result.stdout_text,
            "\n\n a\r\n\r\n\n");
}

TEST(ExecdEventParserTest, ACutEventsTextIsKeptOnlyWhenAsked) {
  const std::string cut = "{\"type\":\"stdout\",\"text\":\"a\"}\n{\"type\":\"stdout\",\"text\":\"b\xE2\x82";
  const Parsed kept = Parse(cut, true);
  EXPECT_EQ(kept.result.stdout_text, "ab");
  EXPECT_EQ(kept.result.skipped_lines_count, 0u);
  EXPECT_FALSE(kept.result.had_invalid_utf8);
  const Parsed dropped = Parse(cut, false);
  EXPECT_EQ(dropped.result.stdout_text, "a");
  EXPECT_EQ(dropped.result.skipped_lines_count, 1u);
}

}  // namespace
}  // namespace opensandbox::internal

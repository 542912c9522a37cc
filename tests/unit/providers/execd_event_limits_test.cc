// What the output cap counts and what else is bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <new>
#include <string>

#include "client/providers/execd_event_parser.h"

namespace opensandbox::internal {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::string Stdout(const std::string& json_text) { return "{\"type\":\"stdout\",\"text\":\"" + json_text + "\"}\n\n"; }

struct Edge {
  std::uint64_t bytes;
  bool passes;
};
constexpr std::uint64_t kCap = 1000;
constexpr Edge kEdges[] = {{kCap - 1, true}, {kCap, true}, {kCap + 1, false}};

class OutputCapTest : public ::testing::Test {
 protected:
  void Check(const std::string& stream, const Edge& edge, std::size_t piece_size = 64) {
    ExecdEventParser parser(kCap);
    bool going_on = true;
    for (std::size_t at = 0; at < stream.size() && going_on; at += piece_size) {
      going_on = parser.Feed(std::string_view(stream).substr(at, piece_size));
    }
    parser.Finish(true);
    EXPECT_EQ(parser.over_limit(), !edge.passes) << edge.bytes;
    EXPECT_EQ(going_on, edge.passes);
    std::uint64_t output = parser.result().stdout_text.size() + parser.result().stderr_text.size();
    for (const ExecutionOutput& values : parser.result().results) {
      for (const auto& [key, value] : values) output += value.size();
    }
    EXPECT_LE(output, kCap);
    if (edge.passes) {
      EXPECT_EQ(output, edge.bytes);
    }
  }
};

TEST_F(OutputCapTest, CountsManyLines) {
  for (const Edge& edge : kEdges) {
    std::string stream;
    for (std::uint64_t i = 0; i < edge.bytes; ++i) stream += Stdout("x");
    Check(stream, edge);
    Check(stream, edge, 1);
  }
}

TEST_F(OutputCapTest, CountsOneLine) {
  for (const Edge& edge : kEdges) {
    Check(Stdout(std::string(edge.bytes, 'x')), edge);
    Check(Stdout(std::string(edge.bytes, 'x')), edge, 1 << 20);
  }
}

TEST_F(OutputCapTest, CountsDecodedBytesOfEscapedText) {
  for (const Edge& edge : kEdges) {
    std::string text;
    for (std::uint64_t i = 0; i < edge.bytes; ++i) text += "\\u0000";
    Check(Stdout(text), edge);
  }
}

TEST_F(OutputCapTest, CountsStdoutStderrAndResultsTogether) {
  for (const Edge& edge : kEdges) {
    const std::string a(300, 'a');
    const std::string b(300, 'b');
    const std::string c(edge.bytes - 600, 'c');
    Check(Stdout(a) + "{\"type\":\"stderr\",\"text\":\"" + b + "\"}\n{\"type\":\"result\",\"results\":{\"text\":\"" +
              c + "\"}}\n",
          edge);
    Check(Stdout(a) + "{\"text\":\"" + c + "\",\"type\":\"stderr\"}\n" + Stdout(b), edge);
  }
}

TEST_F(OutputCapTest, AnEndlessLineStopsAtTheCapWithItsTextKept) {
  ExecdEventParser parser(kCap);
  std::uint64_t sent = 0;
  bool going_on = parser.Feed("{\"type\":\"stdout\",\"text\":\"");
  while (going_on && sent < 100 * kCap) {
    going_on = parser.Feed("xxxxxxxxxx");
    sent += 10;
  }
  EXPECT_EQ(sent, kCap + 10);
  parser.Finish(true);
  EXPECT_EQ(parser.result().stdout_text, std::string(kCap, 'x'));
  EXPECT_EQ(parser.result().skipped_lines_count, 0u);
}

TEST_F(OutputCapTest, TheCutSplitsNoCharacter) {
  ExecdEventParser parser(10);
  EXPECT_FALSE(parser.Feed("{\"type\":\"stdout\",\"text\":\"xx\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\"}\n"));
  parser.Finish(true);
  EXPECT_EQ(parser.result().stdout_text, "xx\xE2\x82\xAC\xE2\x82\xAC");
}

TEST_F(OutputCapTest, ACapOfZeroTakesNoOutputAtAll) {
  ExecdEventParser parser(0);
  EXPECT_TRUE(parser.Feed("{\"type\":\"init\",\"text\":\"id\"}\n{\"type\":\"stdout\",\"text\":\"\"}\n"));
  EXPECT_FALSE(parser.Feed(Stdout("x")));
  EXPECT_EQ(parser.execution_id(), "id");
}

TEST_F(OutputCapTest, TheLargestCapOverflowsNothing) {
  ExecdEventParser parser(~std::uint64_t{0});
  EXPECT_TRUE(parser.Feed(Stdout(std::string(100000, 'x'))));
  EXPECT_EQ(parser.result().stdout_text.size(), 100000u);
}

// Feeds `unit` until the parser stops; the bytes it took.
std::uint64_t FeedForEver(ExecdEventParser& parser, const std::string& unit) {
  std::string block;
  while (block.size() < 4096) block += unit;
  while (parser.raw_bytes() < 1000 * kMiB && parser.Feed(block)) {
  }
  return parser.raw_bytes();
}

struct Noise {
  const char* name;
  const char* start;
  const char* unit;
};
void PrintTo(const Noise& row, std::ostream* out) { *out << row.name; }
class EndlessNoiseTest : public ::testing::TestWithParam<Noise> {};

TEST_P(EndlessNoiseTest, EndsAtTheCapPlusOneMebibyte) {
  ExecdEventParser parser(kMiB);
  parser.Feed(GetParam().start);
  const std::uint64_t taken = FeedForEver(parser, GetParam().unit);
  EXPECT_TRUE(parser.over_limit());
  EXPECT_GT(taken, 2 * kMiB - 8192);
  EXPECT_LE(taken, 2 * kMiB + 8192);
}

INSTANTIATE_TEST_SUITE_P(
    ExecdEventParser, EndlessNoiseTest,
    ::testing::Values(Noise{"BlankLines", "", "\n"}, Noise{"CrLf", "", "\r\n"}, Noise{"Comments", "", ": ping\n"},
                      Noise{"OneComment", ":", "x"}, Noise{"Blanks", "", " "}, Noise{"Junk", "", "junk\n"},
                      Noise{"Pings", "", "{\"type\":\"ping\",\"text\":\"pong\"}\n\n"},
                      Noise{"OnePing", "{\"type\":\"ping\",\"text\":\"", "x"},
                      Noise{"EmptyOutput", "", "{\"type\":\"stdout\",\"text\":\"\"}\n"},
                      Noise{"BlanksInJson", "{\"type\":", " "},
                      Noise{"UnknownEvents", "", "{\"type\":\"x\",\"y\":[1]}\n"},
                      Noise{"DroppedOutput", "", "{\"type\":\"stdout\",\"text\":\"xxxxxxxxxxxxxxxx\"}!\n"}),
    [](const auto& test) { return test.param.name; });

class EndlessMemoryTest : public ::testing::TestWithParam<Noise> {};

TEST_P(EndlessMemoryTest, EndsBeforeItCostsMoreThanTheCapPlusFourMebibytes) {
  const struct mallinfo2 before = mallinfo2();
  ExecdEventParser parser(kMiB);
  parser.Feed(GetParam().start);
  FeedForEver(parser, GetParam().unit);
  const struct mallinfo2 after = mallinfo2();
  EXPECT_TRUE(parser.over_limit());
  EXPECT_LT(parser.raw_bytes(), 64 * kMiB);
  EXPECT_LT(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + 5 * kMiB);
}

INSTANTIATE_TEST_SUITE_P(
    ExecdEventParser, EndlessMemoryTest,
    ::testing::Values(Noise{"OneKey", "{\"", "k"}, Noise{"OneUnknownField", "{\"a\":\"", "x"},
                      Noise{"TextBeforeType", "{\"text\":\"", "x"}, Noise{"OneType", "{\"type\":\"", "x"},
                      Noise{"EmptyResults", "", "{\"type\":\"result\",\"results\":{}}\n"},
                      Noise{"Errors", "", "{\"type\":\"error\",\"error\":{}}\n"},
                      Noise{"Traceback", "{\"type\":\"error\",\"error\":{\"traceback\":[\"\"", ",\"\""},
                      Noise{"ResultList", "{\"type\":\"result\",\"results\":{\"a\":[1", ",[{}]"},
                      Noise{"ErrorText", "{\"type\":\"error\",\"error\":{\"evalue\":\"", "x"}),
    [](const auto& test) { return test.param.name; });

TEST(ExecdEventLimitsTest, FramingOfTinyEventsIsNeverHeldAgainstTheOutput) {
  // 300,000 bytes of output in as many events: some 11 MB on the wire.
  ExecdEventParser parser(300000);
  for (int i = 0; i < 300000; ++i) ASSERT_TRUE(parser.Feed(Stdout("x"))) << i;
  EXPECT_EQ(parser.result().stdout_text.size(), 300000u);
}

TEST(ExecdEventLimitsTest, AnErrorBehindOutputUpToTheCapStillFits) {
  ExecdEventParser parser(kCap);
  EXPECT_TRUE(parser.Feed(Stdout(std::string(kCap, 'x'))));
  EXPECT_TRUE(parser.Feed("{\"type\":\"error\",\"error\":{\"ename\":\"E\",\"evalue\":\"" + std::string(400000, 'y') +
                          "\"}}\n"));
  EXPECT_EQ(parser.result().error->value.size(), 400000u);
}

TEST(ExecdEventLimitsTest, TimeIsLinearInTheLengthOfALine) {
  // Byte by byte, so that every rescan of what came before would show: it would be 10^13 steps.
  ExecdEventParser parser(8 * kMiB);
  parser.Feed("{\"type\":\"stdout\",\"text\":\"");
  for (std::uint64_t i = 0; i < 4 * kMiB; ++i) parser.Feed("x");
  parser.Feed("\"}\n");
  EXPECT_EQ(parser.result().stdout_text.size(), 4 * kMiB);
}

}  // namespace
}  // namespace opensandbox::internal

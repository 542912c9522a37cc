#include "emulator/execution/scripted_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "opensandbox/base/random.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr TimePoint kStart = TimePoint{} + 5s;

ExecutionEvent Text(std::string text) {
  ExecutionEvent event;
  event.text = std::move(text);
  return event;
}

std::vector<std::string> Pieces(const GeneratedText& text) {
  std::vector<std::string> pieces;
  for (TextGenerator generator(text); !generator.done();) pieces.push_back(generator.Next());
  return pieces;
}

std::string Joined(const std::vector<std::string>& pieces) {
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  return all;
}

TEST(TextGeneratorTest, RepeatsTheUnitToTheExactSize) {
  EXPECT_THAT(Pieces({.unit = "ab", .bytes = 5}), ElementsAre("ababa"));
  EXPECT_THAT(Pieces({.unit = "", .bytes = 3}), ElementsAre("xxx"));
  EXPECT_THAT(Pieces({.bytes = 0}), ElementsAre());
}

TEST(TextGeneratorTest, PiecesHaveTheLimitAndNotMore) {
  EXPECT_THAT(Pieces({.bytes = kPieceBytesMax - 1}), ElementsAre(SizeIs(kPieceBytesMax - 1)));
  EXPECT_THAT(Pieces({.bytes = kPieceBytesMax}), ElementsAre(SizeIs(kPieceBytesMax)));
  EXPECT_THAT(Pieces({.bytes = kPieceBytesMax + 1}), ElementsAre(SizeIs(kPieceBytesMax), "x"));
}

TEST(TextGeneratorTest, LinesAreEqualAndTheirEndsAreCounted) {
  EXPECT_EQ(Joined(Pieces({.unit = "ab", .bytes = 12, .lines = 3})), "aba\naba\naba\n");
  EXPECT_EQ(Joined(Pieces({.unit = "ab", .bytes = 11, .lines = 3})), "aba\naba\nab\n");
  EXPECT_EQ(Joined(Pieces({.unit = "ab", .bytes = 3, .lines = 3})), "\n\n\n");
  EXPECT_EQ(Joined(Pieces({.unit = "ab", .bytes = 2, .lines = 3})), "\n\n");
  EXPECT_EQ(Joined(Pieces({.unit = "ab", .bytes = 6, .lines = 1})), "ababa\n");
}

// Against the definition, for random units, sizes and line counts around the piece limit.
TEST(TextGeneratorTest, AnyTextIsWhatItsDefinitionSays) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SeededRandom random(seed);
    GeneratedText text;
    text.unit.clear();
    const std::string characters[] = {"a", "bc", "\xc3\xbc", "\xe4\xbd\xa0", "\xf0\x9f\x98\x80"};
    for (std::uint64_t n = 1 + random.Below(5); n > 0; --n) text.unit += characters[random.Below(5)];
    text.bytes = random.Below(3) == 0 ? random.Below(40) : kPieceBytesMax * 2 + random.Below(1000);
    text.lines = random.Below(2) == 0 ? 0 : 1 + random.Below(text.bytes + 3);
    std::string expected;
    const std::uint64_t lines = std::min(text.lines, text.bytes);
    for (std::uint64_t line = 0; line < std::max<std::uint64_t>(lines, 1) && text.bytes > 0; ++line) {
      std::uint64_t length = lines == 0 ? text.bytes : text.bytes / lines + (line < text.bytes % lines ? 1 : 0) - 1;
      for (std::uint64_t i = 0; i < length; ++i) expected.push_back(text.unit[i % text.unit.size()]);
      if (lines > 0) expected.push_back('\n');
    }
    const std::vector<std::string> pieces = Pieces(text);
    ASSERT_EQ(Joined(pieces), expected) << "seed " << seed;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      ASSERT_LE(pieces[i].size(), kPieceBytesMax);
      ASSERT_FALSE(pieces[i].empty());
      // Without lines the next piece begins with a character.
      if (lines == 0) {
        ASSERT_NE(static_cast<unsigned char>(pieces[i + 1][0]) & 0xC0, 0x80) << "seed " << seed;
      }
      if (pieces[i].find('\n') != std::string::npos) {
        ASSERT_EQ(pieces[i].back(), '\n');
      }
    }
  }
}

TEST(TextGeneratorTest, AnIllFormedUnitIsCutAnywhere) {
  const std::vector<std::string> pieces = Pieces({.unit = "\x80", .bytes = kPieceBytesMax + 10});
  EXPECT_THAT(pieces, ElementsAre(SizeIs(kPieceBytesMax), SizeIs(10)));
}

TEST(ScriptedRunTest, EachPieceIsDueWhereTheScriptSays) {
  ExecutionScript script;
  script.events = {Text("a"), Text("b"), Text("c")};
  script.events[0].delay = 1s;
  script.events[1].repeat = 3;
  script.events[1].every = 10s;
  script.events[2].delay = 5s;
  script.delay_before_end = 7s;
  ScriptedRun run(script, kStart);
  std::vector<std::string> seen;
  while (run.next_event() != nullptr) {
    const Duration due = run.due() - kStart;
    const ScriptedRun::Piece piece = run.Take();
    EXPECT_EQ(piece.due - kStart, due);
    EXPECT_TRUE(piece.begins && piece.ends);
    seen.push_back(piece.text + std::to_string(due / 1s));
  }
  EXPECT_THAT(seen, ElementsAre("a1", "b1", "b11", "b21", "c26"));
  EXPECT_EQ(run.due() - kStart, 33s);
  EXPECT_EQ(run.ends_at() - kStart, 33s);
  EXPECT_EQ(run.Take().event, nullptr);
  EXPECT_EQ(run.due() - kStart, 33s);
}

TEST(ScriptedRunTest, AnEmptyScriptIsOverAtOnceOrAfterItsDelay) {
  EXPECT_EQ(ScriptedRun({}, kStart).due(), kStart);
  ExecutionScript script;
  script.delay_before_end = 2s;
  const ScriptedRun run(script, kStart);
  EXPECT_EQ(run.due(), kStart + 2s);
  EXPECT_EQ(run.ends_at(), kStart + 2s);
}

TEST(ScriptedRunTest, ARepetitionForEverNeverEnds) {
  ExecutionScript script;
  script.events = {Text("t"), Text("never")};
  script.events[0].repeat = 0;
  script.events[0].every = 50ms;
  ScriptedRun run(script, kStart);
  EXPECT_EQ(run.ends_at(), TimePoint::max());
  for (int i = 0; i < 10000; ++i) {
    ASSERT_EQ(run.due() - kStart, i * 50ms);
    ASSERT_EQ(run.Take().text, "t");
  }
}

TEST(ScriptedRunTest, SilenceNeverEndsAndHugeTimesDoNotOverflow) {
  ExecutionScript script;
  script.end = ExecutionEnd::kSilence;
  EXPECT_EQ(ScriptedRun(script, kStart).ends_at(), TimePoint::max());
  script.end = ExecutionEnd::kSilenceWithPings;
  EXPECT_EQ(ScriptedRun(script, kStart).ends_at(), TimePoint::max());
  script.end = ExecutionEnd::kComplete;
  script.events = {Text("a")};
  script.events[0].repeat = UINT64_MAX;
  script.events[0].every = Duration::max();
  EXPECT_EQ(ScriptedRun(script, kStart).ends_at(), TimePoint::max());
}

TEST(ScriptedRunTest, OneBigEventIsToldInPartsOfIt) {
  ExecutionScript script;
  script.events = {Text(""), Text("after")};
  script.events[0].generated = GeneratedText{.bytes = 2 * kPieceBytesMax + 1, .one_event = true};
  script.events[0].repeat = 2;
  ScriptedRun run(script, kStart);
  std::vector<std::string> parts;
  while (run.next_event() != nullptr) {
    const ScriptedRun::Piece piece = run.Take();
    EXPECT_EQ(run.inside_event(), !piece.ends);
    parts.push_back(std::string(piece.begins ? "b" : "") + (piece.ends ? "e" : "") + std::to_string(piece.text.size()));
  }
  EXPECT_THAT(parts, ElementsAre("b65536", "65536", "e1", "b65536", "65536", "e1", "be5"));
}

TEST(ScriptedRunTest, ABigTextIsOtherwiseManyEvents) {
  ExecutionScript script;
  script.events = {Text("")};
  script.events[0].generated = GeneratedText{.bytes = 10 * kPieceBytesMax};
  ScriptedRun run(script, kStart);
  int events = 0;
  while (run.next_event() != nullptr) {
    const ScriptedRun::Piece piece = run.Take();
    EXPECT_TRUE(piece.begins && piece.ends);
    ++events;
  }
  EXPECT_EQ(events, 10);
}

TEST(ScriptedRunTest, AnEmptyGeneratedTextIsOneEmptyEvent) {
  ExecutionScript script;
  script.events = {Text("")};
  script.events[0].generated = GeneratedText{.bytes = 0, .one_event = true};
  ScriptedRun run(script, kStart);
  const ScriptedRun::Piece piece = run.Take();
  EXPECT_TRUE(piece.begins && piece.ends);
  EXPECT_EQ(piece.text, "");
  EXPECT_EQ(run.next_event(), nullptr);
}

}  // namespace
}  // namespace opensandbox::emulator

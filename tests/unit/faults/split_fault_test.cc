#include "emulator/faults/split_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point

std::string Split(const SplitFault& split, const std::vector<std::string>& events) {
  ReplyPlan plan = ApplySplit(split, StreamOfTexts(events));
  return Played(plan);
}

TEST(SplitFaultTest, PiecesOfSoManyBytes) {
  EXPECT_EQ(Split({.bytes = 2}, {"abcde"}), "ab|cd|e|<complete>");
  EXPECT_EQ(Split({.bytes = 5}, {"abcde"}), "abcde|<complete>");
  EXPECT_EQ(Split({.bytes = 4}, {"abcde"}), "abcd|e|<complete>");
}

TEST(SplitFaultTest, InTwoFromTheBeginningOrTheEnd) {
  EXPECT_EQ(Split({.at_byte = 2}, {"abcde"}), "ab|cde|<complete>");
  EXPECT_EQ(Split({.from_end = 2}, {"abcde"}), "abc|de|<complete>");
  EXPECT_EQ(Split({.at_byte = 5}, {"abcde"}), "abcde|<complete>");
  EXPECT_EQ(Split({.from_end = 5}, {"abcde"}), "abcde|<complete>");
}

TEST(SplitFaultTest, OnlyTheChosenEvents) {
  EXPECT_EQ(Split({.events = {.first = 2, .last = 2}, .bytes = 1}, {"ab", "cd", "ef"}), "ab|c|d|ef|<complete>");
}

TEST(SplitFaultTest, AtEachByteInsideACharacter) {
  SplitFault split;
  split.in_characters = true;
  EXPECT_EQ(Split(split, {"a\xc3\xa4z"}), "a\xc3|\xa4z|<complete>");
  EXPECT_EQ(Split(split, {"\xf0\x9f\x98\x80"}), "\xf0|\x9f|\x98|\x80|<complete>");
  EXPECT_EQ(Split(split, {"plain"}), "plain|<complete>");
}

TEST(SplitFaultTest, TheEventBeginsAndEndsOnce) {
  ReplyPlan plan = ApplySplit({.bytes = 1}, StreamOfTexts({"abc"}));
  std::string flags;
  for (int i = 0; i < 3; ++i) {
    const BodyStep step = plan.source->Next(TimePoint{}, WallTime{});
    flags += std::string(step.begins_event ? "b" : "-") + (step.ends_event ? "e" : "-");
  }
  EXPECT_EQ(flags,
            "b-"
            "--"
            "-e");
}

TEST(SplitFaultTest, TimePassesBetweenThePieces) {
  ReplyPlan plan = ApplySplit({.bytes = 2, .gap = 3s}, StreamOfTexts({"abcd"}));
  const TimePoint start{};
  EXPECT_EQ(plan.source->Next(start, WallTime{}).bytes, "ab");
  const BodyStep wait = plan.source->Next(start + 1s, WallTime{});
  ASSERT_EQ(wait.kind, BodyStep::Kind::kWait);
  EXPECT_EQ(wait.until, start + 3s);
  EXPECT_EQ(plan.source->Next(start + 3s, WallTime{}).bytes, "cd");
}

TEST(SplitFaultTest, AFixedBodyIsLeftAlone) { EXPECT_EQ(ApplySplit({.bytes = 1}, FixedOf("body")).body, "body"); }

}  // namespace
}  // namespace opensandbox::emulator

#include "emulator/faults/stall_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point

// What comes at once, in front of the stall.
std::string Before(ReplyPlan& plan) {
  std::string text;
  while (true) {
    const BodyStep step = plan.source->Next(TimePoint{}, WallTime{});
    if (step.kind != BodyStep::Kind::kBytes) {
      return text + (step.until == TimePoint{} + 5s ? "(5s)" : "(no stall)");
    }
    text += step.bytes + "|";
  }
}

TEST(StallFaultTest, BehindSoManyEvents) {
  ReplyPlan plan = ApplyStall({.at_event = 2}, 5s, StreamOfTexts({"one", "two", "three"}));
  EXPECT_EQ(Before(plan), "one|two|(5s)");
  EXPECT_EQ(plan.source->Next(TimePoint{} + 4s, WallTime{}).kind, BodyStep::Kind::kWait);
  EXPECT_EQ(plan.source->Next(TimePoint{} + 5s, WallTime{}).bytes, "three");
  EXPECT_EQ(plan.source->Next(TimePoint{} + 5s, WallTime{}).kind, BodyStep::Kind::kEnd);
}

TEST(StallFaultTest, InsideAnEvent) {
  ReplyPlan plan = ApplyStall({.at_event = 1, .at_byte = 2}, 5s, StreamOfTexts({"one", "two"}));
  EXPECT_EQ(Before(plan), "one|tw|(5s)");
  EXPECT_EQ(plan.source->Next(TimePoint{} + 5s, WallTime{}).bytes, "o");
}

TEST(StallFaultTest, InAFixedBody) {
  ReplyPlan plan = ApplyStall({.at_byte = 3}, 5s, FixedOf("abcdef"));
  EXPECT_EQ(plan.headers[0].value, "6");
  EXPECT_EQ(Before(plan), "abc|(5s)");
  EXPECT_EQ(plan.source->Next(TimePoint{} + 5s, WallTime{}).bytes, "def");
}

TEST(StallFaultTest, APlaceBehindTheEndIsNeverReached) {
  const Acted acted = std::make_shared<bool>(false);
  ReplyPlan plan = ApplyStall({.at_event = 3}, 5s, StreamOfTexts({"one", "two"}), acted);
  EXPECT_EQ(Before(plan), "one|two|(no stall)");
  EXPECT_FALSE(*acted);
}

}  // namespace
}  // namespace opensandbox::emulator

#include "emulator/faults/throttle_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point

// "3@0s ": sizes of the pieces and when they come, if the reader waits as it is told.
std::string Paced(const ThrottleFault& throttle, ReplyPlan plan) {
  plan = ApplyThrottle(throttle, std::move(plan));
  std::string text;
  TimePoint now{};
  while (true) {
    const BodyStep step = plan.source->Next(now, WallTime{});
    if (step.kind == BodyStep::Kind::kEnd) return text;
    if (step.kind == BodyStep::Kind::kWait) {
      now = *step.until;
    } else {
      text += step.bytes + "@" + std::to_string((now - TimePoint{}) / 1s) + " ";
    }
  }
}

TEST(ThrottleFaultTest, SoManyBytesInEachInterval) {
  EXPECT_EQ(Paced({.bytes = 4, .every = 1s}, FixedOf("abcdefghij")), "abcd@0 efgh@1 ij@2 ");
  EXPECT_EQ(Paced({.bytes = 10, .every = 1s}, FixedOf("abcdefghij")), "abcdefghij@0 ");
  EXPECT_EQ(Paced({.bytes = 9, .every = 1s}, FixedOf("abcdefghij")), "abcdefghi@0 j@1 ");
}

TEST(ThrottleFaultTest, SmallEventsShareAnInterval) {
  EXPECT_EQ(Paced({.bytes = 5, .every = 2s}, StreamOfTexts({"abc", "def", "g"})), "abc@0 de@0 f@2 g@2 ");
}

TEST(ThrottleFaultTest, SoManyEventsInEachInterval) {
  EXPECT_EQ(Paced({.events = 2, .every = 3s}, StreamOfTexts({"one", "two", "three"})), "one@0 two@0 three@3 ");
}

}  // namespace
}  // namespace opensandbox::emulator

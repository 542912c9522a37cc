#include "emulator/faults/duplicate_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

std::string Duplicated(const DuplicateFault& duplicate, ReplyPlan plan) {
  plan = ApplyDuplicate(duplicate, std::move(plan));
  return Played(plan);
}

TEST(DuplicateFaultTest, OnceMore) {
  EXPECT_EQ(Duplicated({.events = {.first = 2, .last = 2}}, StreamOfTexts({"one", "two", "three"})),
            "one|two|two|three|<complete>");
}

TEST(DuplicateFaultTest, SoManyTimesMore) {
  EXPECT_EQ(Duplicated({.events = {.first = 1, .last = 1}, .times = 3}, StreamOfTexts({"one", "two"})),
            "one|one|one|one|two|<complete>");
}

TEST(DuplicateFaultTest, ALargeEventIsRepeatedWhole) {
  EXPECT_EQ(Duplicated({.events = {.first = 1, .last = 1}},
                       StreamOf({Part("a", true, false), Part("b", false, true), BodyStep::Bytes("next")})),
            "a|b|a|b|next|<complete>");
}

TEST(DuplicateFaultTest, TheCopiesAreEventsToo) {
  ReplyPlan plan = ApplyDuplicate({.events = {.first = 1, .last = 1}}, StreamOfTexts({"one"}));
  plan.source->Next(TimePoint{}, WallTime{});
  const BodyStep copy = plan.source->Next(TimePoint{}, WallTime{});
  EXPECT_TRUE(copy.begins_event);
  EXPECT_TRUE(copy.ends_event);
}

TEST(DuplicateFaultTest, AFixedBodyIsLeftAlone) { EXPECT_EQ(ApplyDuplicate({}, FixedOf("body")).body, "body"); }

}  // namespace
}  // namespace opensandbox::emulator

#include "emulator/faults/insert_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

TEST(InsertFaultTest, InFrontOfTheEvent) {
  ReplyPlan plan =
      ApplyInsert({.events = {.first = 2, .last = 2}, .bytes = "<noise>"}, StreamOfTexts({"one", "two", "three"}));
  EXPECT_EQ(Played(plan), "one|<noise>|two|three|<complete>");
}

TEST(InsertFaultTest, OnceInFrontOfALargeEvent) {
  ReplyPlan plan = ApplyInsert({.events = {.first = 1, .last = 1}, .bytes = "<noise>"},
                               StreamOf({Part("a", true, false), Part("b", false, true)}));
  EXPECT_EQ(Played(plan), "<noise>|a|b|<complete>");
}

TEST(InsertFaultTest, WhatIsInsertedIsNoEvent) {
  for (const bool unframed : {false, true}) {
    ReplyPlan plan = ApplyInsert({.bytes = "x", .unframed = unframed}, StreamOfTexts({"one"}));
    const BodyStep step = plan.source->Next(TimePoint{}, WallTime{});
    EXPECT_EQ(step.bytes, "x");
    EXPECT_FALSE(step.begins_event);
    EXPECT_FALSE(step.ends_event);
    EXPECT_EQ(step.raw, unframed);
  }
}

TEST(InsertFaultTest, AFixedBodyIsLeftAlone) { EXPECT_EQ(ApplyInsert({}, FixedOf("body")).body, "body"); }

}  // namespace
}  // namespace opensandbox::emulator

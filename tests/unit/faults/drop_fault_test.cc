#include "emulator/faults/drop_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

std::string Dropped(const EventSelector& events) {
  ReplyPlan plan = ApplyDrop(events, StreamOfTexts({"one", "two", "three", "four"}));
  return Played(plan);
}

TEST(DropFaultTest, EventsByPlace) {
  EXPECT_EQ(Dropped({.first = 2, .last = 2}), "one|~|three|four|<complete>");
  EXPECT_EQ(Dropped({.first = 2, .last = 3}), "one|~|~|four|<complete>");
  EXPECT_EQ(Dropped({.first = 9, .last = 9}), "one|two|three|four|<complete>");
}

TEST(DropFaultTest, EventsByText) {
  EventSelector events;
  events.match = TextPattern{"t*", false, nullptr};
  EXPECT_EQ(Dropped(events), "one|~|~|four|<complete>");
}

TEST(DropFaultTest, EachNthFromTheFirst) { EXPECT_EQ(Dropped({.first = 2, .every = 2}), "one|~|three|~|<complete>"); }

TEST(DropFaultTest, AllPartsOfALargeEventGo) {
  ReplyPlan plan = ApplyDrop({.first = 1, .last = 1}, StreamOf({Part("a", true, false), Part("b", false, false),
                                                                Part("c", false, true), BodyStep::Bytes("next")}));
  EXPECT_EQ(Played(plan), "~|~|~|next|<complete>");
}

TEST(DropFaultTest, BytesOutsideOfEventsStay) {
  ReplyPlan plan = ApplyDrop({}, StreamOf({BodyStep::Bytes("event"), Part("raw", false, false)}));
  EXPECT_EQ(Played(plan), "~|raw|<complete>");
}

TEST(DropFaultTest, TellsWhetherItActed) {
  const Acted acted = std::make_shared<bool>(false);
  ReplyPlan plan = ApplyDrop({.first = 3, .last = 3}, StreamOfTexts({"one", "two"}), acted);
  Played(plan);
  EXPECT_FALSE(*acted);
  plan = ApplyDrop({.first = 2, .last = 2}, StreamOfTexts({"one", "two"}), acted);
  Played(plan);
  EXPECT_TRUE(*acted);
}

TEST(DropFaultTest, AFixedBodyIsLeftAlone) { EXPECT_EQ(ApplyDrop({}, FixedOf("body")).body, "body"); }

}  // namespace
}  // namespace opensandbox::emulator

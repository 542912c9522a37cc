#include "emulator/faults/coalesce_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

std::string Coalesced(const CoalesceFault& coalesce, ReplyPlan plan, const Acted& acted = nullptr) {
  plan = ApplyCoalesce(coalesce, std::move(plan), acted);
  return Played(plan);
}

TEST(CoalesceFaultTest, ChosenEventsAreOnePieceOnceTheLastIsThere) {
  EXPECT_EQ(Coalesced({.events = {.first = 2, .last = 3}}, StreamOfTexts({"one", "two", "three", "four"})),
            "one|~|twothree|four|<complete>");
}

TEST(CoalesceFaultTest, WithoutAChoiceEverythingComesAtTheEnd) {
  EXPECT_EQ(Coalesced({}, StreamOfTexts({"one", "two", "three"})), "~|~|~|onetwothree|<complete>");
}

TEST(CoalesceFaultTest, TheEndIsInTheSamePacket) {
  ReplyPlan plan = ApplyCoalesce({}, StreamOfTexts({"one"}));
  plan.source->Next(TimePoint{}, WallTime{});
  EXPECT_FALSE(plan.source->Next(TimePoint{}, WallTime{}).flush);
}

TEST(CoalesceFaultTest, EachTimeSoManyBytesHaveComeTogether) {
  EXPECT_EQ(Coalesced({.bytes = 6}, StreamOfTexts({"one", "two", "three"})), "~|onetwo|~|three|<complete>");
  EXPECT_EQ(Coalesced({.bytes = 7}, StreamOfTexts({"one", "two", "three"})), "~|~|onetwothree|<complete>");
}

TEST(CoalesceFaultTest, AnUnchosenEventLetsGoOfWhatIsHeld) {
  EventSelector events;
  events.match = TextPattern{"t*", false, nullptr};
  EXPECT_EQ(Coalesced({.events = events}, StreamOfTexts({"two", "three", "one"})), "~|~|twothree|one|<complete>");
}

TEST(CoalesceFaultTest, AnEventAndTheEndAreTogetherToo) {
  const Acted acted = std::make_shared<bool>(false);
  Coalesced({.events = {.first = 1, .last = 2}}, StreamOf({BodyStep::Bytes("one"), BodyStep::Wait(TimePoint{})}),
            acted);
  EXPECT_TRUE(*acted);
}

TEST(CoalesceFaultTest, AFixedBodyIsLeftAlone) { EXPECT_EQ(ApplyCoalesce({}, FixedOf("body")).body, "body"); }

}  // namespace
}  // namespace opensandbox::emulator

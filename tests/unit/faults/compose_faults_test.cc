// Pairs of faults on one reply that could be read two ways: the written order decides, whatever the order in the file.
#include <gtest/gtest.h>

#include <string>

#include "emulator/faults/fault.h"
#include "emulator/scenario/loader.h"
#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

// Both orders of two rules (each with only its effect) give the same; returned is what they give.
std::string Both(const std::string& one, const std::string& other, ReplyPlan (*make)()) {
  std::string results[2];
  for (int round = 0; round < 2; ++round) {
    const std::string first = round == 0 ? one : other, second = round == 0 ? other : one;
    const LoadedScenario loaded =
        ParseScenario(R"({"schemaVersion": 1, "name": "n", "faults": [{"id": "a", "on": "*", )" + first +
                          R"(}, {"id": "b", "on": "*", )" + second + "}]}",
                      "f");
    for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text();
    if (loaded.scenario == nullptr) return "";
    ScenarioEngine engine(loaded.scenario, 1);
    ReplyPlan plan = ApplyFaults(engine.Decide({"runCode", nullptr, "", Duration{0}}), make(), {});
    results[round] = plan.source != nullptr ? Played(plan) : plan.body;
    for (const Header& header : plan.headers) results[round] += " " + header.name + "=" + header.value;
  }
  EXPECT_EQ(results[0], results[1]);
  return results[0];
}

ReplyPlan Three() { return StreamOfTexts({"one", "two", "three"}); }
ReplyPlan Json() { return FixedOf(R"({"a":1})"); }

TEST(ComposeFaultsTest, AnAppendedTextIsNotPatched) {
  EXPECT_EQ(Both(R"("append": "tail")", R"("patch": {"a": 2})", &Json), R"({"a":2}tail content-length=11)");
}

TEST(ComposeFaultsTest, AGivenLengthStaysWhatIsAppendedOrPatched) {
  EXPECT_EQ(Both(R"("headers": {"content-length": "5"})", R"("append": "tail")", &Json),
            R"({"a":1}tail content-length=5)");
}

TEST(ComposeFaultsTest, ACutCountsTheEventsThatAreLeft) {
  EXPECT_EQ(Both(R"("drop": {"event": 1})", R"("cut": {"atEvent": 1})", &Three), "~|two|<fin>");
  EXPECT_EQ(Both(R"("duplicate": {"event": 1})", R"("cut": {"atEvent": 2})", &Three), "one|one|<fin>");
  EXPECT_EQ(Both(R"("reorder": {"event": 1, "behind": 2})", R"("cut": {"atEvent": 1})", &Three), "~|two|<fin>");
}

TEST(ComposeFaultsTest, InsertedBytesAreNoEventForACut) {
  EXPECT_EQ(Both(R"("insert": {"event": 2, "text": "x"})", R"("cut": {"atEvent": 2})", &Three), "one|x|two|<fin>");
}

TEST(ComposeFaultsTest, DroppedEventsAreNotRepeated) {
  EXPECT_EQ(Both(R"("drop": {"match": "one"})", R"("duplicate": {"event": 1})", &Three), "~|two|two|three|<complete>");
}

TEST(ComposeFaultsTest, RepeatedEventsCountWhenTheyAreReordered) {
  EXPECT_EQ(Both(R"("duplicate": {"event": 1})", R"("reorder": {"event": 2, "behind": 3})", &Three),
            "one|~|two|one|three|<complete>");
}

TEST(ComposeFaultsTest, WhatIsCoalescedIsSplitAgain) {
  EXPECT_EQ(Both(R"("coalesce": {"event": 1, "count": 2})", R"("split": {"event": 1, "atByte": 4})", &Three),
            "~|onet|wo|three|<complete>");
}

TEST(ComposeFaultsTest, ACutComesBeforeWhatIsHeld) {
  EXPECT_EQ(Both(R"("coalesce": {})", R"("cut": {"atEvent": 2, "how": "rst"})", &Three), "~|~|onetwo|<rst>");
}

TEST(ComposeFaultsTest, AnEndingIsReplacedByACut) {
  EXPECT_EQ(Both(R"("ending": "silence")", R"("cut": {"atEvent": 2, "how": "rst"})", &Three), "one|two|<rst>");
}

TEST(ComposeFaultsTest, AnAppendedTextGoesWithTheEndOfWhatIsHeld) {
  EXPECT_EQ(Both(R"("append": "tail")", R"("coalesce": {})", &Three), "~|~|~|onetwothree|tail|<complete>");
}

}  // namespace
}  // namespace opensandbox::emulator

// The small faults, and the written order in which several act on one reply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "emulator/faults/append_fault.h"
#include "emulator/faults/delay_fault.h"
#include "emulator/faults/ending_fault.h"
#include "emulator/faults/fault.h"
#include "emulator/scenario/loader.h"
#include "tests/unit/faults/fault_plan.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point

TEST(AppendFaultTest, AStreamGetsItBeforeItsEnd) {
  ReplyPlan plan = ApplyAppend("{tail}", StreamOf({BodyStep::Bytes("one"), BodyStep::End(Ending::kClean)}));
  EXPECT_EQ(Played(plan), "one|{tail}|<" + std::string(ToString(Ending::kClean)) + ">");
}

TEST(AppendFaultTest, WhatIsAppendedIsNoEvent) {
  ReplyPlan plan = ApplyAppend("tail", StreamOf({}));
  const BodyStep step = plan.source->Next(TimePoint{}, WallTime{});
  EXPECT_EQ(step.bytes, "tail");
  EXPECT_FALSE(step.begins_event);
  EXPECT_FALSE(step.ends_event);
}

TEST(AppendFaultTest, AFixedBodyGrowsAndSaysSo) {
  const ReplyPlan plan = ApplyAppend("tail", FixedOf("head"));
  EXPECT_EQ(plan.body, "headtail");
  EXPECT_EQ(plan.headers[0].value, "8");
}

TEST(EndingFaultTest, TheEndIsReplacedAndNothingElse) {
  ReplyPlan plan = ApplyEnding(Ending::kRst, StreamOfTexts({"one"}));
  EXPECT_EQ(Played(plan), "one|<rst>");
  EXPECT_EQ(ApplyEnding(Ending::kSilence, FixedOf("x")).ending, Ending::kSilence);
}

TEST(DelayFaultTest, PausesAddUp) {
  ReplyPlan plan = FixedOf("x");
  plan.delay_before_head = 1s;
  plan = ApplyDelay(2s, 3s, std::move(plan));
  EXPECT_EQ(plan.delay_before_head, 3s);
  EXPECT_EQ(plan.delay_before_body, 3s);
}

class ApplyFaultsTest : public testing::Test {
 protected:
  // Applies the given fault rules to the answer to one ping.
  ReplyPlan Apply(const std::string& faults, ReplyPlan plan) {
    const LoadedScenario loaded =
        ParseScenario(R"({"schemaVersion": 1, "name": "n", "faults": [)" + faults + "]}", "f");
    for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text();
    if (loaded.scenario == nullptr) return plan;
    engine_ = std::make_unique<ScenarioEngine>(loaded.scenario, 1);
    const Decision decision = engine_->Decide({"ping", nullptr, "", 0s});
    return ApplyFaults(decision, std::move(plan), {});
  }
  std::unique_ptr<ScenarioEngine> engine_;
};

TEST_F(ApplyFaultsTest, WithoutRulesThePlanIsUntouched) {
  ReplyPlan plan = Apply("", StreamOfTexts({"one"}));
  EXPECT_EQ(Played(plan), "one|<" + std::string(ToString(Ending::kComplete)) + ">");
  EXPECT_FALSE(plan.cut);
}

TEST_F(ApplyFaultsTest, ARespondComesBeforeAnAppendWhateverTheFileSays) {
  const ReplyPlan plan = Apply(R"({"id": "a", "on": "ping", "append": "+tail"},
                                  {"id": "b", "on": "ping", "respond": {"status": 500, "body": "no"}})",
                               FixedOf("good"));
  EXPECT_EQ(plan.status, 500);
  EXPECT_EQ(plan.body, "no+tail");
}

TEST_F(ApplyFaultsTest, ACutCountsAppendedBytes) {
  ReplyPlan plan = Apply(R"({"id": "a", "on": "ping", "cut": {"atByte": 5}},
                            {"id": "b", "on": "ping", "append": "+tail"})",
                         FixedOf("good"));
  EXPECT_EQ(plan.body, "good+tail");
  ASSERT_TRUE(plan.cut);
  EXPECT_EQ(plan.cut->bytes, 5u);
}

TEST_F(ApplyFaultsTest, ACutComesBeforeAnEnding) {
  ReplyPlan plan = Apply(R"({"id": "a", "on": "ping", "ending": "silence"},
                            {"id": "b", "on": "ping", "cut": {"atEvent": 1, "how": "rst"}})",
                         StreamOfTexts({"one", "two"}));
  EXPECT_EQ(Played(plan), "one|<rst>");
}

TEST_F(ApplyFaultsTest, AnAppendComesBeforeAnEnding) {
  ReplyPlan plan = Apply(R"({"id": "a", "on": "ping", "ending": "fin"}, {"id": "b", "on": "ping", "append": "tail"})",
                         StreamOfTexts({"one"}));
  EXPECT_EQ(Played(plan), "one|tail|<fin>");
}

TEST_F(ApplyFaultsTest, AppendsFollowEachOtherInFileOrder) {
  ReplyPlan plan =
      Apply(R"({"id": "a", "on": "ping", "append": "1"}, {"id": "b", "on": "ping", "append": "2"})", FixedOf("0"));
  EXPECT_EQ(plan.body, "012");
}

TEST_F(ApplyFaultsTest, OfTwoCutsAndTwoEndingsTheFirstCounts) {
  ReplyPlan plan =
      Apply(R"({"id": "a", "on": "ping", "cut": {"atByte": 1}}, {"id": "b", "on": "ping", "cut": {"atByte": 2}},
                            {"id": "c", "on": "ping", "ending": "rst"}, {"id": "d", "on": "ping", "ending": "fin"})",
            FixedOf("abc"));
  EXPECT_EQ(plan.cut->bytes, 1u);
  EXPECT_EQ(plan.ending, Ending::kRst);
}

TEST_F(ApplyFaultsTest, DelaysOfAllRulesAddUp) {
  const ReplyPlan plan = Apply(R"({"id": "a", "on": "ping", "delay": "1s"},
                                  {"id": "b", "on": "ping", "delay": "2s", "delayBody": "5s"},
                                  {"id": "c", "on": "ping", "respond": {"status": 500}})",
                               FixedOf("x"));
  EXPECT_EQ(plan.delay_before_head, 3s);
  EXPECT_EQ(plan.delay_before_body, 5s);
}

TEST_F(ApplyFaultsTest, TheEndOfTheExchangeIsStillToldOnce) {
  ReplyPlan plan = StreamOfTexts({"one"});
  int ends = 0;
  plan.on_end = [&](const ExchangeEnd&) { ++ends; };
  plan = Apply(R"({"id": "a", "on": "ping", "append": "x", "cut": {"atEvent": 1}, "delay": "1s"})", std::move(plan));
  ASSERT_TRUE(plan.on_end);
  plan.on_end({});
  EXPECT_EQ(ends, 1);
}

}  // namespace
}  // namespace opensandbox::emulator

#include "emulator/scenario/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "emulator/scenario/loader.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point
using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<const Scenario> Load(const std::string& fields) {
  const LoadedScenario loaded = ParseScenario(R"({"schemaVersion": 1, "name": "n", )" + fields + "}", "f");
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text();
  return loaded.scenario != nullptr ? loaded.scenario : DefaultScenario();
}

ScenarioEngine MakeEngine(const std::string& fields, std::uint64_t seed = 1) { return {Load(fields), seed}; }

// Which rules act on each of `count` equal requests: "a-ab" for rules a; none; a and b.
std::string Acts(ScenarioEngine& engine, const std::string& operation, int count) {
  std::string text;
  const Request request;
  for (int i = 0; i < count; ++i) {
    std::string ids;
    for (const std::string& id : engine.Decide({operation, &request, "", 0s}).RuleIds()) ids += id;
    text += ids.empty() ? "-" : ids;
  }
  return text;
}

TEST(DecideTest, NothingActsWithoutAScenario) {
  ScenarioEngine engine(DefaultScenario(), 1);
  const Decision decision = engine.Decide({"createSandbox", nullptr, "", 0s});
  EXPECT_THAT(decision.rules, IsEmpty());
  EXPECT_TRUE(decision.commit);
  EXPECT_EQ(decision.respond, nullptr);
}

TEST(DecideTest, NthActsOnce) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "nth": 2, "delay": "1s"}])");
  EXPECT_EQ(Acts(engine, "ping", 4), "-a--");
}

TEST(DecideTest, FirstActsOnTheFirstN) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "first": 2, "delay": "1s"}])");
  EXPECT_EQ(Acts(engine, "ping", 4), "aa--");
}

TEST(DecideTest, EveryActsOnEachNth) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "every": 3, "delay": "1s"}])");
  EXPECT_EQ(Acts(engine, "ping", 7), "--a--a-");
}

TEST(DecideTest, OtherOperationsAreLeftAlone) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "delay": "1s"}])");
  EXPECT_EQ(Acts(engine, "runCode", 2), "--");
  EXPECT_EQ(Acts(engine, "ping", 2), "aa");
}

TEST(DecideTest, AStarActsOnAllOperations) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "*", "nth": 2, "delay": "1s"}])");
  EXPECT_EQ(Acts(engine, "ping", 1) + Acts(engine, "runCode", 1) + Acts(engine, "ping", 1), "-a-");
}

TEST(DecideTest, ProbabilityFollowsTheSeed) {
  const std::string fields = R"("seed": 1, "faults": [{"id": "a", "on": "ping", "probability": 0.5, "delay": "1s"}])";
  auto one = MakeEngine(fields, 1), again = MakeEngine(fields, 1), other = MakeEngine(fields, 2);
  const std::string acts = Acts(one, "ping", 200);
  EXPECT_EQ(Acts(again, "ping", 200), acts);
  EXPECT_NE(Acts(other, "ping", 200), acts);
  const auto fired = one.FaultUsage()[0].fired;
  EXPECT_GT(fired, 60u);
  EXPECT_LT(fired, 140u);
}

TEST(DecideTest, ProbabilityOneAlwaysActs) {
  auto engine = MakeEngine(R"("seed": 1, "faults": [{"id": "a", "on": "ping", "probability": 1, "delay": "1s"}])");
  EXPECT_EQ(Acts(engine, "ping", 5), "aaaaa");
}

TEST(DecideTest, AnotherRuleLeavesTheDrawsAlone) {
  auto alone = MakeEngine(R"("seed": 1, "faults": [{"id": "a", "on": "ping", "probability": 0.5, "delay": "1s"}])");
  auto both = MakeEngine(R"("seed": 1, "faults": [{"id": "z", "on": "ping", "probability": 0.5, "delay": "1s"},
                                                  {"id": "a", "on": "ping", "probability": 0.5, "delay": "1s"}])");
  std::string of_a;
  for (int i = 0; i < 50; ++i) {
    const auto ids = both.Decide({"ping", nullptr, "", 0s}).RuleIds();
    of_a += std::count(ids.begin(), ids.end(), "a") > 0 ? 'a' : '-';
  }
  EXPECT_EQ(of_a, Acts(alone, "ping", 50));
}

TEST(DecideTest, TheWindowHasABeginningAndAnEnd) {
  auto engine = MakeEngine(
      R"("faults": [{"id": "a", "on": "ping", "nth": 1, "window": {"from": "1s", "until": "2s"}, "delay": "1s"}])");
  const auto acts = [&](Duration at) { return !engine.Decide({"ping", nullptr, "", at}).rules.empty(); };
  EXPECT_FALSE(acts(999ms));
  EXPECT_FALSE(acts(2s));
  EXPECT_TRUE(acts(1s));  // the first that fits: those outside the window did not count
}

TEST(DecideTest, HeaderBodyAndImageMustAllFit) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "createSandbox", "delay": "1s",
      "match": {"header": {"x-team": "blue*"}, "body": "/\"timeout\":5\\b/", "image": "py:*"}}])");
  Request request;
  request.headers = {{"X-Team", "blue-1"}};
  request.body = R"({"timeout":5})";
  const auto acts = [&](const Request& r, const std::string& image) {
    return !engine.Decide({"createSandbox", &r, image, 0s}).rules.empty();
  };
  EXPECT_TRUE(acts(request, "py:3"));
  EXPECT_FALSE(acts(request, "node:3"));
  Request other = request;
  other.body = R"({"timeout":50})";
  EXPECT_FALSE(acts(other, "py:3"));
  other = request;
  other.headers = {{"X-Team", "red"}};
  EXPECT_FALSE(acts(other, "py:3"));
  other.headers.clear();
  EXPECT_FALSE(acts(other, "py:3"));
}

TEST(DecideTest, TheFirstRespondCountsAndTheOtherDoesNotFire) {
  auto engine = MakeEngine(R"("faults": [
      {"id": "a", "on": "ping", "first": 1, "respond": {"status": 500}},
      {"id": "b", "on": "ping", "respond": {"status": 503}}])");
  const Decision decision = engine.Decide({"ping", nullptr, "", 0s});
  ASSERT_NE(decision.respond, nullptr);
  EXPECT_EQ(decision.respond->status, 500);
  EXPECT_THAT(decision.RuleIds(), ElementsAre("a"));
  EXPECT_EQ(engine.FaultUsage()[1].fitted, 1u);
  EXPECT_EQ(engine.FaultUsage()[1].fired, 0u);
  EXPECT_EQ(engine.Decide({"ping", nullptr, "", 0s}).respond->status, 503);
}

TEST(DecideTest, RulesWithDifferentEffectsActTogether) {
  auto engine = MakeEngine(R"("faults": [
      {"id": "a", "on": "ping", "delay": "1s"},
      {"id": "b", "on": "*", "cut": {"atByte": 3}},
      {"id": "c", "on": "ping", "cut": {"atByte": 4}},
      {"id": "d", "on": "ping", "cut": {"atByte": 4}, "delayBody": "1s"}])");
  EXPECT_EQ(Acts(engine, "ping", 1), "abd");
}

TEST(DecideTest, CommitFollowsTheRuleThatResponds) {
  auto engine = MakeEngine(R"("faults": [
      {"id": "a", "on": "createSandbox", "nth": 1, "respond": {"status": 503}, "commit": true},
      {"id": "b", "on": "createSandbox", "nth": 2, "respond": {"status": 503}},
      {"id": "c", "on": "createSandbox", "nth": 3, "commit": false, "cut": {"at": "beforeHeaders"}},
      {"id": "d", "on": "createSandbox", "nth": 4, "cut": {"at": "beforeHeaders"}}])");
  const auto commits = [&] { return engine.Decide({"createSandbox", nullptr, "", 0s}).commit; };
  EXPECT_TRUE(commits());
  EXPECT_FALSE(commits());
  EXPECT_FALSE(commits());
  EXPECT_TRUE(commits());
  EXPECT_TRUE(commits());
}

TEST(DecideTest, UsageIsTheFilesOrder) {
  auto engine = MakeEngine(R"("faults": [{"id": "z", "on": "ping", "nth": 2, "delay": "1s", "mayStayUnused": true},
                                         {"id": "a", "on": "ping", "delay": "1s"}])");
  Acts(engine, "ping", 3);
  const auto usage = engine.FaultUsage();
  ASSERT_EQ(usage.size(), 2u);
  EXPECT_EQ(usage[0].id, "z");
  EXPECT_EQ(usage[0].fitted, 3u);
  EXPECT_EQ(usage[0].fired, 1u);
  EXPECT_TRUE(usage[0].may_stay_unused);
  EXPECT_EQ(usage[1].fired, 3u);
}

TEST(PlanSandboxTest, WithoutARuleItRunsAtOnce) {
  ScenarioEngine engine(DefaultScenario(), 1);
  const SandboxBehaviour behaviour = engine.PlanSandbox("i", {});
  EXPECT_EQ(behaviour.rule_id, "");
  EXPECT_THAT(behaviour.stages, IsEmpty());
}

TEST(PlanSandboxTest, TheFirstRuleThatFitsCounts) {
  auto engine = MakeEngine(R"("sandboxes": [
      {"id": "second", "match": {"nth": 2}, "endpoint": {"never": true}},
      {"id": "blue", "match": {"metadata": {"team": "blue"}}, "endpoint": {"omitEndpoint": true}},
      {"id": "broken", "match": {"image": "*:broken"}, "lifecycle": [{"state": "Failed", "reason": "r"}]}])");
  EXPECT_EQ(engine.PlanSandbox("x:broken", {}).rule_id, "broken");
  EXPECT_EQ(engine.PlanSandbox("x:broken", {}).rule_id, "second");
  EXPECT_EQ(engine.PlanSandbox("x:broken", {{"team", "blue"}}).rule_id, "blue");
  EXPECT_EQ(engine.PlanSandbox("x:good", {{"team", "red"}}).rule_id, "");
  const SandboxBehaviour broken = engine.PlanSandbox("y:broken", {});
  ASSERT_EQ(broken.stages.size(), 1u);
  EXPECT_EQ(broken.stages[0].state, "Failed");
  EXPECT_EQ(broken.stages[0].reason, "r");
}

TEST(PlanSandboxTest, WeightsDrawOneOfNeighbours) {
  const std::string fields = R"("seed": 1, "sandboxes": [{"lifecycle": [
      {"state": "Pending", "for": "1s"}, {"state": "A", "weight": 3, "polls": 1}, {"state": "B", "weight": 1, "polls": 1},
      {"state": "C"}]}])";
  auto engine = MakeEngine(fields);
  auto again = MakeEngine(fields);
  int a = 0;
  for (int i = 0; i < 400; ++i) {
    const auto stages = engine.PlanSandbox("i", {}).stages;
    ASSERT_EQ(stages.size(), 3u);
    EXPECT_EQ(stages[0].state, "Pending");
    EXPECT_EQ(stages[2].state, "C");
    a += stages[1].state == "A" ? 1 : 0;
    EXPECT_EQ(again.PlanSandbox("i", {}).stages, stages);
  }
  EXPECT_GT(a, 260);
  EXPECT_LT(a, 340);
}

TEST(PlanSandboxTest, JitterStaysInItsBoundsAndFollowsTheSeed) {
  const std::string fields =
      R"("seed": 1, "sandboxes": [{"lifecycle": [{"state": "A", "for": "2s", "jitter": "500ms"}, {"state": "B"}]}])";
  auto one = MakeEngine(fields, 1), again = MakeEngine(fields, 1), other = MakeEngine(fields, 2);
  std::set<Duration> seen;
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const Duration drawn = *one.PlanSandbox("i", {}).stages[0].duration;
    EXPECT_GE(drawn, 1500ms);
    EXPECT_LE(drawn, 2500ms);
    EXPECT_EQ(again.PlanSandbox("i", {}).stages[0].duration, drawn);
    differs = differs || other.PlanSandbox("i", {}).stages[0].duration != drawn;
    seen.insert(drawn);
  }
  EXPECT_GT(seen.size(), 90u);
  EXPECT_TRUE(differs);
}

ExecutionCall Call(const std::string& code, const std::string& language = "python") {
  ExecutionCall call;
  call.operation = "runCode";
  call.code = code;
  call.language = language;
  call.sandbox_image = "img";
  return call;
}

TEST(PlanExecutionTest, TheFirstRuleThatFitsCounts) {
  auto engine = MakeEngine(R"("execution": [
      {"id": "loop", "match": {"code": "/while/", "language": "python"}, "events": [{"end": "silence"}]},
      {"id": "again", "match": {"code": "x", "nth": 2}, "events": [{"stdout": "2"}]},
      {"id": "any", "match": {"code": "x", "image": "img"}, "events": [{"stdout": "1"}]}])");
  std::string near_miss;
  EXPECT_EQ(engine.PlanExecution(Call("while True: pass"), &near_miss).rule_id, "loop");
  EXPECT_EQ(engine.PlanExecution(Call("x"), &near_miss).rule_id, "any");
  EXPECT_EQ(engine.PlanExecution(Call("x"), &near_miss).rule_id, "again");
  EXPECT_EQ(engine.PlanExecution(Call("x"), &near_miss).rule_id, "any");
  EXPECT_EQ(engine.unmatched_executions(), 0u);
  EXPECT_EQ(near_miss, "");
}

TEST(PlanExecutionTest, WithoutARuleItIsAnEmptySuccessThatIsExplained) {
  auto engine = MakeEngine(R"("execution": [
      {"id": "other-image", "match": {"image": "z", "code": "x"}, "events": [{"stdout": "1"}]},
      {"id": "nearest", "match": {"language": "python", "code": "/while/"}, "events": [{"stdout": "1"}]}])");
  std::string near_miss;
  const ExecutionScript script = engine.PlanExecution(Call("print(1)"), &near_miss);
  EXPECT_EQ(script.rule_id, "");
  EXPECT_THAT(script.events, IsEmpty());
  EXPECT_EQ(script.end, ExecutionEnd::kComplete);
  EXPECT_EQ(near_miss, "the closest rule is nearest: its code is \"print(1)\", the rule wants \"/while/\"");
  EXPECT_EQ(engine.unmatched_executions(), 1u);
}

TEST(PlanExecutionTest, NearMissOfANumberAndOfNoRulesAtAll) {
  auto engine = MakeEngine(R"("execution": [{"match": {"code": "x", "nth": 3}, "events": [{"stdout": "1"}]}])");
  std::string near_miss;
  engine.PlanExecution(Call("x"), &near_miss);
  EXPECT_EQ(near_miss, "the closest rule is execution/0: it is number 1 that fits, the rule wants number 3");
  ScenarioEngine empty(DefaultScenario(), 1);
  empty.PlanExecution(Call("x"), &near_miss);
  EXPECT_EQ(near_miss, "the scenario has no execution rules");
  empty.PlanExecution(Call("x"), nullptr);
  EXPECT_EQ(empty.unmatched_executions(), 2u);
}

}  // namespace
}  // namespace opensandbox::emulator

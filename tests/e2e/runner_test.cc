#include "emulator/runner/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/e2e/runner_support.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPrints42[] = R"("execution": [{"match": {"code": "answer"}, "events": [{"stdout": "42\n"}]}])";

TEST(RunnerTest, AWellBehavedClientPasses) {
  const auto result = RunOne(MakeScenario(std::string(kPrints42) + R"(,
      "client": [{"create": {"image": "python:3.12"}},
                 {"run": {"code": "answer"}, "expect": {"stdout": "42\n"}},
                 {"delete": {}, "expect": {"deleted": true}}],
      "expect": {"live": 0, "created": 1, "deleted": 1, "requests": [{"operation": "createSandbox", "count": 1}]})"));
  EXPECT_TRUE(result.verdict.passed) << Why(result);
  EXPECT_FALSE(result.skipped);
  EXPECT_EQ(result.verdict.ledger.created, 1u);
  EXPECT_EQ(result.verdict.ledger.deleted, 1u);
  EXPECT_GE(result.verdict.requests, 4u);
  EXPECT_EQ(result.seed, kDefaultRunSeed);
}

TEST(RunnerTest, ALeakingStepFailsWithTheLeakSentence) {
  const auto result = RunOne(MakeScenario(R"("client": [{"create": {}}])"));
  EXPECT_FALSE(result.verdict.passed);
  EXPECT_EQ(result.verdict.ledger.live, 1u) << "the runner must not tidy up behind the client";
  ASSERT_EQ(result.verdict.leaks.size(), 1u);
  EXPECT_THAT(result.verdict.failures,
              Contains(AllOf(HasSubstr("sb-1 leaked: created by POST #1"), HasSubstr("never deleted"))));
}

TEST(RunnerTest, AnUnconsumedFaultFails) {
  const auto result = RunOne(MakeScenario(R"(
      "faults": [{"id": "never-comes", "on": "deleteSandbox", "nth": 5, "respond": {"status": 500}}],
      "client": [{"create": {}}, {"delete": {}}])"));
  EXPECT_FALSE(result.verdict.passed);
  EXPECT_THAT(result.verdict.failures, Contains(HasSubstr("never-comes")));
  EXPECT_EQ(result.verdict.faults_fired, 0u);
}

TEST(RunnerTest, AMissedExpectationOfAStepIsASentence) {
  const auto result = RunOne(MakeScenario(std::string(kPrints42) + R"(,
      "client": [{"create": {}}, {"run": {"code": "answer"}, "expect": {"error": "outputLimit"}}, {"delete": {}}])"));
  EXPECT_FALSE(result.verdict.passed);
  EXPECT_THAT(result.verdict.failures,
              Contains("step 2 (run): expected error outputLimit, got success with 3 bytes of stdout"));
}

TEST(RunnerTest, StepsGoOnAfterAFailedOne) {
  const auto result = RunOne(MakeScenario(std::string(kPrints42) + R"(,
      "client": [{"create": {}, "expect": {"atLeast": "1h"}}, {"run": {"code": "answer"}}, {"delete": {}}])"));
  EXPECT_THAT(result.verdict.failures, ElementsAre("step 1 (create): expected to take at least 1h, took 0s"));
  EXPECT_EQ(result.verdict.ledger.deleted, 1u);
}

TEST(RunnerTest, ARunWithoutASandboxIsTold) {
  const auto result = RunOne(MakeScenario(R"(
      "faults": [{"id": "no", "on": "createSandbox", "respond": {"status": 401}}],
      "client": [{"create": {}}, {"run": {"code": "1"}}])"));
  EXPECT_THAT(result.verdict.failures, Contains(StartsWith("step 1 (create): expected success, got error api with "
                                                           "status 401: ")));
  EXPECT_THAT(result.verdict.failures, Contains(HasSubstr("step 2 (run): expected success, got error invalidArgument: "
                                                          "\"there is no sandbox")));
}

TEST(RunnerTest, ASlowBootTakesVirtualTimeOnly) {
  const auto result = RunOne(MakeScenario(R"(
      "sandboxes": [{"lifecycle": [{"state": "Pending", "for": "20m"}, {"state": "Running"}]}],
      "client": [{"create": {"timeout": "24h", "readyTimeout": "30m"}, "expect": {"atLeast": "20m"}}, {"delete": {}}])"));
  EXPECT_TRUE(result.verdict.passed) << Why(result);
  EXPECT_GE(result.verdict.virtual_duration, 20min);
  EXPECT_LT(result.verdict.virtual_duration, 21min);
}

TEST(RunnerTest, AWaitStepMovesTheClockAndLetsTheSandboxExpire) {
  const auto result = RunOne(MakeScenario(R"(
      "client": [{"create": {"timeout": "5m"}}, {"wait": "10m", "expect": {"atLeast": "10m", "within": "10m"}},
                 {"delete": {}, "expect": {"deleted": false}}],
      "expect": {"expired": 1, "leaks": 1})"));
  EXPECT_TRUE(result.verdict.passed) << Why(result);
  EXPECT_EQ(result.verdict.ledger.expired, 1u);
}

TEST(RunnerTest, CancelAfterStopsTheStepAtThatInstant) {
  const auto result = RunOne(MakeScenario(R"(
      "execution": [{"events": [{"stdout": "tick\n"}, {"end": "silence"}]}],
      "client": [{"create": {}},
                 {"run": {"code": "while True: pass"}, "cancelAfter": "2s",
                  "expect": {"error": "cancelled", "atLeast": "2s", "within": "3s", "stdout": "tick\n"}},
                 {"delete": {}}])"));
  EXPECT_TRUE(result.verdict.passed) << Why(result);
}

TEST(RunnerTest, CancelAfterTheEndOfAStepChangesNothing) {
  const auto result = RunOne(MakeScenario(std::string(kPrints42) + R"(,
      "client": [{"create": {}, "cancelAfter": "1h"}, {"run": {"code": "answer"}, "cancelAfter": "1h"},
                 {"delete": {}, "cancelAfter": "1h"}])"));
  EXPECT_TRUE(result.verdict.passed) << Why(result);
  EXPECT_LT(result.verdict.virtual_duration, 1h);
}

TEST(RunnerTest, ACancelledWaitEndsEarly) {
  const auto result = RunOne(MakeScenario(R"(
      "client": [{"wait": "1h", "cancelAfter": "1s",
                  "expect": {"error": "cancelled", "atLeast": "1s", "within": "1s"}}])"));
  EXPECT_TRUE(result.verdict.passed) << Why(result);
}

TEST(RunnerTest, EphemeralCreatesRunsAndDeletes) {
  const auto result = RunOne(MakeScenario(std::string(kPrints42) + R"(,
      "client": [{"ephemeral": {"create": {}, "run": {"code": "answer"}}, "expect": {"stdout": "42\n"}}],
      "expect": {"created": 1, "deleted": 1})"));
  EXPECT_TRUE(result.verdict.passed) << Why(result);
}

TEST(RunnerTest, SettingsOfTheClientCount) {
  const std::string one_attempt = R"(
      "faults": [{"id": "busy", "on": "createSandbox", "first": 1, "respond": {"status": 503}}],
      "clientSettings": {"retryAttemptsMax": 1},
      "client": [{"create": {}, "expect": {"error": "api", "attempts": 1}}])";
  const auto result = RunOne(MakeScenario(one_attempt));
  EXPECT_TRUE(result.verdict.passed) << Why(result);
}

TEST(RunnerTest, StrictFailsOnCodeThatNoRuleMatches) {
  const auto scenario = MakeScenario(R"("client": [{"create": {}}, {"run": {"code": "anything"}}, {"delete": {}}])");
  const auto lenient = RunOne(scenario);
  EXPECT_TRUE(lenient.verdict.passed) << Why(lenient);
  EXPECT_FALSE(lenient.verdict.warnings.empty());
  RunOptions strict;
  strict.strict = true;
  EXPECT_FALSE(RunOne(scenario, strict).verdict.passed);
}

TEST(RunnerTest, AScenarioWithoutClientStepsIsSkipped) {
  const auto result = RunOne(MakeScenario(R"("description": "provider only")"));
  EXPECT_TRUE(result.skipped);
  EXPECT_EQ(result.skip_reason, "it has no client steps");
}

TEST(RunnerTest, TheSeedIsTheOptionsThenTheScenariosThenOne) {
  const std::string steps = R"("client": [{"create": {}}, {"delete": {}}])";
  EXPECT_EQ(RunOne(MakeScenario(steps)).seed, 1u);
  EXPECT_EQ(RunOne(MakeScenario(R"("seed": 7, )" + steps)).seed, 7u);
  RunOptions options;
  options.seed = 9;
  EXPECT_EQ(RunOne(MakeScenario(R"("seed": 7, )" + steps), options).seed, 9u);
}

TEST(RunnerTest, ManyAtOnceComeBackInTheirOrder) {
  std::vector<std::shared_ptr<const Scenario>> scenarios;
  for (int i = 0; i < 16; ++i) {
    scenarios.push_back(MakeScenario(std::string(kPrints42) + R"(,
        "client": [{"create": {}}, {"run": {"code": "answer"}, "expect": {"stdout": "42\n"}}, {"delete": {}}])",
                                     "copy-" + std::to_string(i)));
  }
  RunOptions options;
  options.jobs = 4;
  std::vector<std::string> told;
  bool inside = false;
  const auto results = RunScenarios(scenarios, options, [&](const ScenarioResult& result) {
    EXPECT_FALSE(inside) << "one call at a time";
    inside = true;
    told.push_back(result.scenario->name);
    inside = false;
  });
  ASSERT_EQ(results.size(), scenarios.size());
  EXPECT_EQ(told.size(), scenarios.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].scenario, scenarios[i]);
    EXPECT_TRUE(results[i].verdict.passed) << Why(results[i]);
  }
}

TEST(RunnerTest, RealTimeScenariosRunToo) {
  const auto result = RunOne(MakeScenario(std::string(kPrints42) + R"(, "clock": "real",
      "client": [{"create": {}}, {"run": {"code": "answer"}, "expect": {"stdout": "42\n"}}, {"delete": {}}])"));
  EXPECT_TRUE(result.verdict.passed) << Why(result);
}

}  // namespace
}  // namespace opensandbox::emulator

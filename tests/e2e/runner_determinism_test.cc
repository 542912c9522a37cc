#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/e2e/runner_support.h"

namespace opensandbox::emulator {
namespace {

constexpr int kRuns = 120;

std::string JournalOfOneRun(const std::shared_ptr<const Scenario>& scenario, std::uint64_t seed) {
  std::string journal;
  RunOptions options;
  options.seed = seed;
  options.inspect = [&journal](const ScenarioResult& result, Emulator& emulator) {
    journal = NormalisedJournal(emulator);
    for (const std::string& failure : result.verdict.failures) journal += failure + "\n";
    journal += std::to_string(result.verdict.virtual_duration.count()) + "\n";
  };
  RunOne(scenario, options);
  return journal;
}

void ExpectOneJournal(const std::shared_ptr<const Scenario>& scenario) {
  const std::string first = JournalOfOneRun(scenario, 1);
  ASSERT_GT(std::count(first.begin(), first.end(), '\n'), 3) << first;
  for (int i = 1; i < kRuns; ++i) ASSERT_EQ(JournalOfOneRun(scenario, 1), first) << "run " << i;
}

TEST(RunnerDeterminismTest, PollsAndRetriesGiveOneJournal) {
  ExpectOneJournal(MakeScenario(R"("seed": 1,
      "sandboxes": [{"lifecycle": [{"state": "Pending", "for": "3s", "jitter": "2s"}, {"state": "Running"}]}],
      "execution": [{"events": [{"stdout": "tick\n", "repeat": 20, "every": "700ms"}]}],
      "faults": [{"id": "flaky", "on": "getSandbox", "first": 2, "respond": {"status": 503, "retryAfter": "1s"}},
                 {"id": "slow", "on": "deleteSandbox", "nth": 1, "delay": "1s", "respond": {"status": 500}}],
      "client": [{"create": {}}, {"run": {"code": "x"}}, {"delete": {}}])"));
}

TEST(RunnerDeterminismTest, CutsAndSilencesGiveOneJournal) {
  ExpectOneJournal(MakeScenario(R"(
      "execution": [{"match": {"code": "hang"}, "events": [{"stdout": "a\n"}, {"end": "silence"}]},
                    {"match": {"code": "long"}, "events": [{"stdout": "tick\n", "repeat": 5, "every": "1s"}]}],
      "faults": [{"id": "lost", "on": "createSandbox", "nth": 1, "cut": {"at": "beforeHeaders", "how": "rst"}},
                 {"id": "torn", "on": "runCode", "nth": 2, "cut": {"atEvent": 3, "how": "rst"}}],
      "client": [{"create": {}, "expect": {"error": "outcomeUnknown"}},
                 {"create": {}},
                 {"run": {"code": "hang"}, "cancelAfter": "2s", "expect": {"error": "cancelled"}},
                 {"run": {"code": "long"}, "expect": {"error": "streamTruncated"}},
                 {"run": {"code": "hang", "idleTimeout": "5s"}, "expect": {"error": "timeout"}},
                 {"delete": {}}])"));
}

TEST(RunnerDeterminismTest, AnotherSeedGivesAnotherJournal) {
  const auto scenario = MakeScenario(R"("seed": 1,
      "sandboxes": [{"lifecycle": [{"state": "Pending", "for": "10s", "jitter": "9s"}, {"state": "Running"}]}],
      "client": [{"create": {}}, {"delete": {}}])");
  EXPECT_NE(JournalOfOneRun(scenario, 1), JournalOfOneRun(scenario, 2));
}

}  // namespace
}  // namespace opensandbox::emulator

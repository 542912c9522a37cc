// Quotas, drawn times, late effects and connections: what the engine decides beyond plain rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "emulator/scenario/engine.h"
#include "emulator/scenario/loader.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point

ScenarioEngine MakeEngine(const std::string& fields, std::uint64_t seed = 1) {
  const LoadedScenario loaded = ParseScenario(R"({"schemaVersion": 1, "name": "n", "seed": 1, )" + fields + "}", "f");
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << problem.Text();
  return {loaded.scenario != nullptr ? loaded.scenario : DefaultScenario(), seed};
}

bool Acts(ScenarioEngine& engine, Duration at, std::uint64_t live = 0, std::uint64_t streams = 0) {
  OperationCall call{"ping", nullptr, "", at};
  call.live_sandboxes = live;
  call.open_streams = streams;
  return !engine.Decide(call).rules.empty();
}

TEST(QuotaTest, RequestsWithinAnyTimeOfThatLength) {
  auto engine =
      MakeEngine(R"("faults": [{"id": "a", "on": "ping", "over": {"requests": 2, "per": "10s"}, "delay": "1s"}])");
  EXPECT_FALSE(Acts(engine, 0s));
  EXPECT_FALSE(Acts(engine, 6s));
  EXPECT_TRUE(Acts(engine, 9999ms));
  EXPECT_FALSE(Acts(engine, 10s));  // the first one is ten seconds old
  EXPECT_TRUE(Acts(engine, 15999ms));
  EXPECT_FALSE(Acts(engine, 16s));
}

TEST(QuotaTest, OfNothingRefusesAll) {
  auto engine =
      MakeEngine(R"("faults": [{"id": "a", "on": "ping", "over": {"requests": 0, "per": "10s"}, "delay": "1s"}])");
  EXPECT_TRUE(Acts(engine, 0s));
}

TEST(QuotaTest, TheTimeUntilThereIsRoom) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "over": {"requests": 1, "per": "10s"},
                              "respond": {"status": 429, "retryAfter": "reset"}}])");
  engine.Decide({"ping", nullptr, "", 0s});
  EXPECT_EQ(engine.Decide({"ping", nullptr, "", 1ms}).retry_after, "10");
  EXPECT_EQ(engine.Decide({"ping", nullptr, "", 9500ms}).retry_after, "1");
}

TEST(QuotaTest, SandboxesAndStreams) {
  auto live = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "over": {"live": 2}, "delay": "1s"}])");
  EXPECT_FALSE(Acts(live, 0s, 1));
  EXPECT_TRUE(Acts(live, 0s, 2));
  auto streams = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "over": {"streams": 1}, "delay": "1s"}])");
  EXPECT_FALSE(Acts(streams, 0s, 9, 0));
  EXPECT_TRUE(Acts(streams, 0s, 0, 1));
}

std::vector<Duration> Delays(const std::string& delay, std::uint64_t seed, int count) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "delay": )" + delay + "}]", seed);
  std::vector<Duration> delays;
  for (int i = 0; i < count; ++i) delays.push_back(engine.Decide({"ping", nullptr, "", 0s}).delay);
  return delays;
}

TEST(LatencyTest, UniformStaysWithinItsLimitsAndFillsThem) {
  const std::vector<Duration> delays = Delays(R"({"from": "1s", "to": "2s"})", 1, 400);
  EXPECT_GE(*std::min_element(delays.begin(), delays.end()), 1s);
  EXPECT_LT(*std::min_element(delays.begin(), delays.end()), 1050ms);
  EXPECT_LE(*std::max_element(delays.begin(), delays.end()), 2s);
  EXPECT_GT(*std::max_element(delays.begin(), delays.end()), 1950ms);
}

TEST(LatencyTest, LognormalHasItsMedianItsSpreadAndItsEnd) {
  std::vector<Duration> delays = Delays(R"({"median": "1s", "sigma": 0.5, "max": "2s"})", 1, 1000);
  std::sort(delays.begin(), delays.end());
  EXPECT_NEAR(std::chrono::duration<double>(delays[500]).count(), 1.0, 0.1);
  EXPECT_NEAR(std::chrono::duration<double>(delays[159]).count(), 0.607, 0.07);  // e^-0.5
  EXPECT_EQ(delays.back(), 2s);
}

TEST(LatencyTest, TheSeedMattersAndRepeats) {
  const std::string delay = R"({"from": "1s", "to": "2s"})";
  EXPECT_EQ(Delays(delay, 1, 20), Delays(delay, 1, 20));
  EXPECT_NE(Delays(delay, 1, 20), Delays(delay, 2, 20));
}

TEST(LatencyTest, PausesOfSeveralRulesAddUp) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "delay": "1s", "delayBody": "3s"},
                                         {"id": "b", "on": "ping", "delay": "2s"}])");
  const Decision decision = engine.Decide({"ping", nullptr, "", 0s});
  EXPECT_EQ(decision.delay, 3s);
  EXPECT_EQ(decision.delay_body, 3s);
}

TEST(CommitTest, LateIsNotNow) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "createSandbox", "commit": "late", "commitAfter": "4s",
                              "respond": {"status": 504}}])");
  const Decision decision = engine.Decide({"createSandbox", nullptr, "", 0s});
  EXPECT_FALSE(decision.commit);
  EXPECT_EQ(decision.commit_after, 4s);
}

TEST(CommitTest, ARefusedKeyTakesNoEffectUnlessSaid) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "ping", "nth": 1, "auth": "missingKey"},
                                         {"id": "b", "on": "ping", "nth": 2, "auth": "invalidKey", "commit": true}])");
  const Decision first = engine.Decide({"ping", nullptr, "", 0s});
  EXPECT_FALSE(first.commit);
  EXPECT_EQ(first.auth, AuthFailure::kMissingKey);
  EXPECT_TRUE(engine.Decide({"ping", nullptr, "", 0s}).commit);
}

TEST(MissedTest, AFaultWhosePlaceNeverCameHasNotFired) {
  auto engine = MakeEngine(R"("faults": [{"id": "a", "on": "runCode", "drop": {"event": 9}}])");
  engine.Decide({"runCode", nullptr, "", 0s});
  engine.Decide({"runCode", nullptr, "", 0s});
  engine.NoteMissed("a");
  EXPECT_EQ(engine.FaultUsage()[0].fired, 1u);
  engine.NoteMissed("a");
  EXPECT_EQ(engine.FaultUsage()[0].fired, 0u);
}

TEST(ListenerTest, RulesCountConnectionsInTheirWindow) {
  auto engine = MakeEngine(R"("listener": [{"id": "a", "do": "reset", "nth": 2, "window": {"from": "1s"}},
                                           {"id": "b", "do": "hang", "every": 3}])");
  EXPECT_EQ(engine.DecideConnection(0s), std::nullopt);
  EXPECT_EQ(engine.DecideConnection(1s), std::nullopt);
  EXPECT_EQ(engine.DecideConnection(1s), ListenerRule::Action::kReset);
  EXPECT_EQ(engine.DecideConnection(1s), std::nullopt);
  EXPECT_EQ(engine.ListenerUsage()[0].fired, 1u);
}

TEST(DeathTest, IsDrawnForEachSandbox) {
  auto engine = MakeEngine(R"("sandboxes": [{"die": {"after": "1s", "probability": 0.5}}])");
  int dying = 0;
  for (int i = 0; i < 200; ++i) dying += engine.PlanSandbox("image", {}).death.has_value() ? 1 : 0;
  EXPECT_GT(dying, 60);
  EXPECT_LT(dying, 140);
}

}  // namespace
}  // namespace opensandbox::emulator

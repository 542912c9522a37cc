#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <thread>

#include "opensandbox/base/virtual_clock.h"
#include "tests/e2e/runner_support.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// A clock that somebody locked never moves: whoever waits for time waits for ever.
RunOptions WithLockedClock() {
  RunOptions options;
  options.stuck_after = 200ms;
  options.on_start = [](Emulator& emulator) {
    dynamic_cast<VirtualClock&>(*emulator.FindTenant(kRunTenant)->clock).Lock();
  };
  return options;
}

TEST(RunnerStuckTest, TellsWhereItIsAndWhatTheClockWaitsFor) {
  const auto result =
      RunOne(MakeScenario(R"("client": [{"create": {}}, {"wait": "7m"}, {"delete": {}}])"), WithLockedClock());
  EXPECT_FALSE(result.verdict.passed);
  EXPECT_FALSE(result.abandoned);
  EXPECT_THAT(result.verdict.failures,
              Contains(AllOf(HasSubstr("stuck: nothing moved for 0.2s of real time during step 2 (wait)"),
                             HasSubstr("locked 1 times"), HasSubstr("wait step until 7m"))));
}

TEST(RunnerStuckTest, TakesNoFurtherSteps) {
  const auto result =
      RunOne(MakeScenario(R"("client": [{"create": {}}, {"wait": "7m"}, {"delete": {}}])"), WithLockedClock());
  EXPECT_EQ(result.verdict.ledger.deleted, 0u);
  EXPECT_EQ(result.verdict.ledger.live, 1u);
}

TEST(RunnerStuckTest, FreesAStreamThatNobodyEnds) {
  const auto result = RunOne(MakeScenario(R"(
      "execution": [{"events": [{"end": "silence"}]}],
      "client": [{"create": {}}, {"run": {"code": "x"}}, {"delete": {}}])"),
                             WithLockedClock());
  EXPECT_FALSE(result.abandoned);
  EXPECT_THAT(result.verdict.failures, Contains(HasSubstr("during step 2 (run)")));
}

TEST(RunnerStuckTest, FreesACreateThatWaitsForItsSandbox) {
  const auto result = RunOne(MakeScenario(R"(
      "sandboxes": [{"lifecycle": [{"state": "Pending"}]}],
      "client": [{"create": {}}])"),
                             WithLockedClock());
  EXPECT_FALSE(result.abandoned);
  EXPECT_THAT(result.verdict.failures, Contains(HasSubstr("during step 1 (create)")));
}

TEST(RunnerStuckTest, MovingForEverIsGivenUpToo) {
  RunOptions options;
  options.stuck_after = 60s;
  options.give_up_after = 300ms;
  const auto result = RunOne(MakeScenario(R"(
      "execution": [{"events": [{"stdout": "x", "repeat": "forever", "every": "1s"}]}],
      "client": [{"create": {"timeout": "1000000s"}},
                 {"run": {"code": "x", "deadline": "100000000s", "outputBytesMax": "1GiB"}}])"),
                             options);
  EXPECT_FALSE(result.abandoned);
  EXPECT_THAT(result.verdict.failures, Contains(HasSubstr("given up: not at its end after 0.3s")));
}

TEST(RunnerStuckTest, AThreadThatCanNotBeEndedIsAbandoned) {
  struct Gate {
    std::latch open{1};
  };
  const auto gate = std::make_shared<Gate>();
  const std::weak_ptr<Gate> still_used = gate;
  {
    RunOptions options;
    options.stuck_after = 100ms;
    options.rescue_grace = 100ms;
    options.on_start = [held = gate](Emulator&) { held->open.wait(); };
    const auto result = RunOne(MakeScenario(R"("client": [{"create": {}}, {"delete": {}}])"), options);
    EXPECT_TRUE(result.abandoned);
    EXPECT_FALSE(result.verdict.passed);
    EXPECT_THAT(result.verdict.failures, Contains(HasSubstr("stuck: nothing moved for 0.1s of real time before the "
                                                            "first step")));
  }
  gate->open.count_down();
  // The test's own threads must be gone before the program ends.
  while (still_used.use_count() > 1) std::this_thread::yield();
}

}  // namespace
}  // namespace opensandbox::emulator

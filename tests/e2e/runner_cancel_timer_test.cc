#include <gtest/gtest.h>

#include <stop_token>

#include "emulator/runner/cancel_timer.h"
#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;

TEST(CancelTimerTest, RequestsTheStopAtItsInstant) {
  VirtualClock clock;
  const Participant me(clock);
  std::stop_source stop;
  const auto waker = clock.NewWaker();
  TimePoint stopped_at{};
  const std::stop_callback on_stop(stop.get_token(), [&] {
    stopped_at = clock.Now();
    waker->Wake();
  });
  const CancelTimer timer(clock, clock.Now() + 2s, stop);
  WaitRequest request;
  request.deadline = clock.Now() + 1h;
  request.waker = waker.get();
  EXPECT_EQ(clock.Wait(request), WaitOutcome::kWoken);
  EXPECT_EQ(stopped_at, TimePoint{} + 2s);
}

TEST(CancelTimerTest, EndsWithItsScopeWithoutMovingTime) {
  VirtualClock clock;
  const Participant me(clock);
  std::stop_source stop;
  { const CancelTimer timer(clock, clock.Now() + 24h, stop); }
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_EQ(clock.Elapsed(), 0s);
}

TEST(CancelTimerTest, AnInstantThatHasPassedStopsAtOnce) {
  VirtualClock clock;
  const Participant me(clock);
  std::stop_source stop;
  { const CancelTimer timer(clock, clock.Now(), stop); }
  EXPECT_TRUE(stop.stop_requested());
}

// Of two equal deadlines the one whose wait began first is served first: always the timer.
TEST(CancelTimerTest, BeatsAnEqualDeadlineEveryTime) {
  for (int i = 0; i < 200; ++i) {
    VirtualClock clock;
    const Participant me(clock);
    std::stop_source stop;
    const CancelTimer timer(clock, clock.Now() + 1s, stop);
    clock.SleepFor(1s);
    ASSERT_EQ(clock.Jumps().size(), 1u);
    ASSERT_EQ(clock.Jumps()[0].label, "cancelAfter");
  }
}

TEST(CancelTimerTest, WorksOnRealTime) {
  SystemClock& clock = SystemClock::Instance();
  std::stop_source stop;
  const auto waker = clock.NewWaker();
  const std::stop_callback on_stop(stop.get_token(), [&] { waker->Wake(); });
  const CancelTimer timer(clock, clock.Now() + 1ms, stop);
  WaitRequest request;
  request.waker = waker.get();
  EXPECT_EQ(clock.Wait(request), WaitOutcome::kWoken);
}

}  // namespace
}  // namespace opensandbox::emulator

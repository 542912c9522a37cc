#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "opensandbox/base/virtual_clock.h"

namespace opensandbox {
namespace {

using namespace std::chrono_literals;
using Side = ConnectionActivity::Side;

constexpr int kBusyRounds = 20000;

TEST(VirtualClockSettleTest, WaitsUntilEveryOtherParticipantIsBlocked) {
  VirtualClock clock;
  const Participant me(clock);
  const auto waker = clock.NewWaker();
  std::latch joined(1);
  std::atomic<bool> came_to_rest{false};
  std::jthread other([&] {
    const Participant participant(clock);
    joined.count_down();
    for (int i = 0; i < kBusyRounds; ++i) std::this_thread::yield();
    came_to_rest = true;
    WaitRequest request;
    request.deadline = clock.Now() + 1h;
    request.waker = waker.get();
    clock.Wait(request);
  });
  joined.wait();
  clock.Settle();
  EXPECT_TRUE(came_to_rest);
  EXPECT_EQ(clock.Elapsed(), 0s) << "settling must not move time";
  waker->Wake();
}

TEST(VirtualClockSettleTest, WaitsForBytesAndClosesUnderWay) {
  VirtualClock clock;
  ConnectionActivity& activity = *clock.connection_activity();
  const ConnectionActivity::Key key{1, 2};
  activity.Opened(Side::kClient, key);
  activity.Opened(Side::kServer, key);
  activity.Sent(Side::kServer, key, 10);
  activity.Closed(Side::kClient, key);
  std::latch started(1);
  std::atomic<bool> seen{false};
  std::jthread server([&] {
    started.count_down();
    for (int i = 0; i < kBusyRounds; ++i) std::this_thread::yield();
    seen = true;
    activity.Closed(Side::kServer, key);
  });
  started.wait();
  clock.Settle();
  EXPECT_TRUE(seen);
}

TEST(VirtualClockSettleTest, ForgottenConnectionsHoldNobody) {
  VirtualClock clock;
  ConnectionActivity& activity = *clock.connection_activity();
  activity.Opened(Side::kClient, {1, 2});
  std::jthread rescuer([&] {
    for (int i = 0; i < kBusyRounds; ++i) std::this_thread::yield();
    clock.ForgetServerPort(2);
  });
  clock.Settle();
  SUCCEED();
}

}  // namespace
}  // namespace opensandbox

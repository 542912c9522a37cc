#include "opensandbox/base/clock.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>

namespace opensandbox {
namespace {

using namespace std::chrono_literals;

// Far enough that no wait of these tests may end by it.
constexpr auto kNever = 1h;

struct ClockCase {
  std::string name;
  std::shared_ptr<Clock> clock;
};
void PrintTo(const ClockCase& c, std::ostream* os) { *os << c.name; }

// The clocks that run by themselves. (VirtualClock has its own tests.)
class RunningClockTest : public ::testing::TestWithParam<ClockCase> {
 protected:
  RunningClockTest() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds_), 0); }
  ~RunningClockTest() override {
    close(fds_[0]);
    close(fds_[1]);
  }
  Clock& clock() { return *GetParam().clock; }
  void MakeReadable() { ASSERT_EQ(write(fds_[1], "x", 1), 1); }

  int fds_[2] = {-1, -1};
};

INSTANTIATE_TEST_SUITE_P(, RunningClockTest,
                         ::testing::Values(ClockCase{"System", std::make_shared<SystemClock>()},
                                           ClockCase{"ScaledUp", std::make_shared<ScaledClock>(1000.0)},
                                           ClockCase{"ScaledDown", std::make_shared<ScaledClock>(0.5)}),
                         [](const auto& test) { return test.param.name; });

TEST_P(RunningClockTest, AReadyDescriptorEndsTheWait) {
  MakeReadable();
  EXPECT_EQ(clock().Wait({.fd = fds_[0], .events = POLLIN, .deadline = clock().Now() + kNever}), WaitOutcome::kReady);
}

TEST_P(RunningClockTest, ADescriptorThatBecomesReadyEndsTheWait) {
  std::jthread writer([&] { MakeReadable(); });
  EXPECT_EQ(clock().Wait({.fd = fds_[0], .events = POLLIN}), WaitOutcome::kReady);
}

TEST_P(RunningClockTest, AHangUpCountsAsReady) {
  ASSERT_EQ(shutdown(fds_[1], SHUT_RDWR), 0);
  EXPECT_EQ(clock().Wait({.fd = fds_[0], .events = 0}), WaitOutcome::kReady);
}

TEST_P(RunningClockTest, ReadyAndWokenWinOverAnExpiredDeadline) {
  const auto waker = clock().NewWaker();
  const TimePoint past = clock().Now() - 1s;
  EXPECT_EQ(clock().Wait({.fd = fds_[0], .events = POLLIN, .deadline = past, .waker = waker.get()}),
            WaitOutcome::kDeadline);
  MakeReadable();
  EXPECT_EQ(clock().Wait({.fd = fds_[0], .events = POLLIN, .deadline = past}), WaitOutcome::kReady);
  waker->Wake();
  EXPECT_EQ(clock().Wait({.deadline = past, .waker = waker.get()}), WaitOutcome::kWoken);
}

TEST_P(RunningClockTest, AWakerEndsAWaitFromAnotherThread) {
  const auto waker = clock().NewWaker();
  std::jthread other([&] { waker->Wake(); });
  EXPECT_EQ(clock().Wait({.fd = fds_[0], .events = POLLIN, .waker = waker.get()}), WaitOutcome::kWoken);
}

TEST_P(RunningClockTest, AWakerIsStickyUntilReset) {
  const auto waker = clock().NewWaker();
  waker->Wake();
  waker->Wake();
  EXPECT_EQ(clock().Wait({.waker = waker.get()}), WaitOutcome::kWoken);
  EXPECT_EQ(clock().Wait({.waker = waker.get()}), WaitOutcome::kWoken);
  waker->Reset();
  EXPECT_EQ(clock().Wait({.deadline = clock().Now(), .waker = waker.get()}), WaitOutcome::kDeadline);
}

TEST_P(RunningClockTest, ADeadlineIsNeverReportedBeforeTheClockReachesIt) {
  for (const Duration span : {Duration(0), Duration(1), Duration(999), Duration(100us), Duration(3ms)}) {
    const TimePoint deadline = clock().Now() + span;
    ASSERT_EQ(clock().Wait({.deadline = deadline}), WaitOutcome::kDeadline);
    ASSERT_GE(clock().Now(), deadline);
  }
}

TEST_P(RunningClockTest, SleepEndsAtItsTime) {
  const TimePoint end = clock().Now() + 2ms;
  clock().SleepUntil(end);
  EXPECT_GE(clock().Now(), end);
  clock().SleepFor(-1s);
}

TEST_P(RunningClockTest, ADeadlineAtTheEndOfTimeIsNone) {
  MakeReadable();
  EXPECT_EQ(clock().Wait({.fd = fds_[0], .events = POLLIN, .deadline = TimePoint::max()}), WaitOutcome::kReady);
}

TEST_P(RunningClockTest, DoesNotJump) {
  EXPECT_EQ(clock().connection_activity(), nullptr);
  const Participant participant(clock());
}

TEST(ScaledClockTest, RunsByItsFactor) {
  ScaledClock fast(1e6);
  SystemClock real;
  const TimePoint real_start = real.Now();
  const TimePoint fast_start = fast.Now();
  const WallTime wall_start = fast.WallNow();
  fast.SleepFor(1h);  // 3.6 real milliseconds
  const Duration fast_span = fast.Now() - fast_start;
  const Duration real_span = real.Now() - real_start;
  EXPECT_GE(fast_span, 1h);
  // The real span lies around the other, so it is the longer one.
  EXPECT_GE(real_span, fast_span / 1'000'000);
  EXPECT_GE(fast.WallNow() - wall_start, 1h);
}

TEST(ScaledClockTest, StartsAtTheCalendarOfTheSystem) {
  const WallTime before = SystemClock::Instance().WallNow();
  const ScaledClock clock(0.001);
  const WallTime at = clock.WallNow();
  EXPECT_GE(at, before);
  EXPECT_LE(at, SystemClock::Instance().WallNow());
}

}  // namespace
}  // namespace opensandbox

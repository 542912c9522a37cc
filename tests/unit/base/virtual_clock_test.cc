#include "opensandbox/base/virtual_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace opensandbox {
namespace {

using namespace std::chrono_literals;
using Side = ConnectionActivity::Side;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SocketPair {
 public:
  SocketPair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds_), 0); }
  ~SocketPair() {
    close(fds_[0]);
    close(fds_[1]);
  }
  int a() const { return fds_[0]; }
  int b() const { return fds_[1]; }

 private:
  int fds_[2];
};

TEST(VirtualClockTest, StartsAtZeroAndAtTheGivenWallTime) {
  VirtualClock clock;
  EXPECT_EQ(clock.Elapsed(), 0s);
  EXPECT_EQ(clock.WallNow(), WallTime(std::chrono::seconds(1767225600)));
}

TEST(VirtualClockTest, ALonelySleepJumpsExactlyToItsEnd) {
  VirtualClock clock;
  Participant me(clock);
  clock.SleepFor(24h);
  EXPECT_EQ(clock.Elapsed(), 24h);
  EXPECT_EQ(clock.WallNow(), WallTime(std::chrono::seconds(1767225600)) + 24h);
  ASSERT_EQ(clock.Jumps().size(), 1u);
  EXPECT_EQ(clock.Jumps()[0].label, "sleep");
}

TEST(VirtualClockTest, ARunningParticipantHoldsTheClock) {
  VirtualClock clock;
  Participant me(clock);
  std::latch joined(1);
  bool sleeper_done = false;
  std::mutex mutex;
  std::jthread sleeper([&] {
    Participant participant(clock);
    joined.count_down();
    clock.SleepFor(5s);
    std::lock_guard lock(mutex);
    sleeper_done = true;
  });
  joined.wait();
  // This thread runs, so the other one's sleep can't end however long it is blocked.
  while (clock.PendingDeadlines().empty()) std::this_thread::yield();
  EXPECT_EQ(clock.Elapsed(), 0s);
  EXPECT_THAT(clock.Blockers(), HasSubstr("1 threads are running"));
  clock.SleepFor(3s);
  EXPECT_EQ(clock.Elapsed(), 3s);
  clock.SleepFor(10s);
  sleeper.join();
  EXPECT_TRUE(sleeper_done);
  EXPECT_EQ(clock.Elapsed(), 13s);
}

TEST(VirtualClockTest, EqualDeadlinesWakeInTheOrderOfTheWaits) {
  VirtualClock clock;
  std::vector<int> order;
  std::mutex mutex;
  {
    Participant me(clock);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        Participant participant(clock);
        clock.SleepUntil(TimePoint{} + 1s);
        std::lock_guard lock(mutex);
        order.push_back(i);
      });
      while (clock.PendingDeadlines().size() != static_cast<std::size_t>(i) + 1) std::this_thread::yield();
    }
    clock.SleepUntil(TimePoint{} + 2s);
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(VirtualClockTest, AReadyDescriptorWinsOverTheDeadline) {
  VirtualClock clock;
  Participant me(clock);
  SocketPair pair;
  ASSERT_EQ(write(pair.b(), "x", 1), 1);
  EXPECT_EQ(clock.Wait({.fd = pair.a(), .events = POLLIN, .deadline = clock.Now() + 1s}), WaitOutcome::kReady);
  EXPECT_EQ(clock.Elapsed(), 0s);
}

TEST(VirtualClockTest, ADescriptorThatBecomesReadyWhileAnotherSleepsEndsTheWaitFirst) {
  VirtualClock clock;
  SocketPair pair;
  std::latch joined(1);
  WaitOutcome outcome = WaitOutcome::kDeadline;
  Duration at{};
  Participant me(clock);
  std::jthread reader([&] {
    Participant participant(clock);
    joined.count_down();
    outcome = clock.Wait({.fd = pair.a(), .events = POLLIN, .deadline = TimePoint{} + 10s});
    at = clock.Elapsed();
  });
  joined.wait();
  clock.SleepFor(4s);
  ASSERT_EQ(write(pair.b(), "x", 1), 1);
  clock.SleepFor(1s);  // can't end before the reader has taken notice
  reader.join();
  EXPECT_EQ(outcome, WaitOutcome::kReady);
  EXPECT_EQ(at, 4s);
}

TEST(VirtualClockTest, AWakerEndsAWaitAndIsSticky) {
  VirtualClock clock;
  Participant me(clock);
  const auto waker = clock.NewWaker();
  waker->Wake();
  EXPECT_EQ(clock.Wait({.deadline = clock.Now() + 1s, .waker = waker.get()}), WaitOutcome::kWoken);
  waker->Reset();
  EXPECT_EQ(clock.Wait({.deadline = clock.Now() + 1s, .waker = waker.get()}), WaitOutcome::kDeadline);
  EXPECT_EQ(clock.Elapsed(), 1s);
}

TEST(VirtualClockTest, AWokenThreadCountsAsRunningFromTheMomentOfTheWake) {
  // Were it counted only once it runs, the waker's own next sleep could jump over it. Repeated, since that is a race.
  for (int round = 0; round < 300; ++round) {
    VirtualClock clock;
    const auto waker = clock.NewWaker();
    std::latch joined(1);
    Duration woken_at{};
    Participant me(clock);
    std::jthread waiter([&] {
      Participant participant(clock);
      joined.count_down();
      ASSERT_EQ(clock.Wait({.waker = waker.get()}), WaitOutcome::kWoken);
      woken_at = clock.Elapsed();
    });
    joined.wait();
    clock.SleepFor(1s);
    waker->Wake();
    clock.SleepFor(1s);
    waiter.join();
    ASSERT_EQ(woken_at, 1s);
  }
}

TEST(VirtualClockTest, BytesUnderWayHoldTheClockUntilTheyAreReceived) {
  VirtualClock clock(VirtualClock::Options{});
  ConnectionActivity& activity = *clock.connection_activity();
  const ConnectionActivity::Key key{50000, 8080};
  activity.Opened(Side::kClient, key);
  activity.Opened(Side::kServer, key);
  activity.Sent(Side::kServer, key, 10);
  std::latch started(1);
  std::jthread sleeper([&] {
    Participant participant(clock);
    started.count_down();
    clock.SleepFor(1s);
  });
  started.wait();
  while (clock.PendingDeadlines().empty()) std::this_thread::yield();
  EXPECT_EQ(clock.Elapsed(), 0s);
  EXPECT_THAT(clock.Blockers(), HasSubstr("10 to the client"));
  activity.Received(Side::kClient, key, 4);
  EXPECT_EQ(clock.Elapsed(), 0s);
  activity.Received(Side::kClient, key, 6);
  sleeper.join();
  EXPECT_EQ(clock.Elapsed(), 1s);
}

TEST(VirtualClockTest, AConnectionThatTheServerHasNotAcceptedHoldsTheClock) {
  VirtualClock clock;
  ConnectionActivity& activity = *clock.connection_activity();
  const ConnectionActivity::Key key{50000, 8080};
  activity.Opened(Side::kClient, key);
  std::jthread sleeper([&] { clock.SleepFor(1s); });
  while (clock.PendingDeadlines().empty()) std::this_thread::yield();
  EXPECT_EQ(clock.Elapsed(), 0s);
  activity.Opened(Side::kServer, key);
  sleeper.join();
  EXPECT_EQ(clock.Elapsed(), 1s);
}

TEST(VirtualClockTest, AClosedEndHoldsTheClockUntilTheOtherHasSeenIt) {
  for (const Side first : {Side::kClient, Side::kServer}) {
    VirtualClock clock;
    ConnectionActivity& activity = *clock.connection_activity();
    const ConnectionActivity::Key key{50000, 8080};
    activity.Opened(Side::kClient, key);
    activity.Opened(Side::kServer, key);
    activity.Closed(first, key);
    std::jthread sleeper([&] { clock.SleepFor(1s); });
    while (clock.PendingDeadlines().empty()) std::this_thread::yield();
    EXPECT_EQ(clock.Elapsed(), 0s);
    activity.Closed(first == Side::kClient ? Side::kServer : Side::kClient, key);
    sleeper.join();
    EXPECT_EQ(clock.Elapsed(), 1s);
  }
}

TEST(VirtualClockTest, AParkedConnectionDoesNotHoldTheClock) {
  VirtualClock clock;
  ConnectionActivity& activity = *clock.connection_activity();
  const ConnectionActivity::Key key{50000, 8080};
  activity.Opened(Side::kClient, key);
  activity.Opened(Side::kServer, key);
  activity.Parked(key, true);
  activity.Closed(Side::kServer, key);
  clock.SleepFor(1s);
  EXPECT_EQ(clock.Elapsed(), 1s);
}

TEST(VirtualClockTest, ForgettingAPortFreesTheClock) {
  VirtualClock clock;
  clock.connection_activity()->Opened(Side::kClient, {50000, 8080});
  clock.ForgetServerPort(8080);
  clock.SleepFor(1s);
  EXPECT_EQ(clock.Elapsed(), 1s);
}

TEST(VirtualClockTest, LocksAreCountedAndAnExtraUnlockIsRefused) {
  VirtualClock clock;
  clock.Lock();
  clock.Lock();
  EXPECT_FALSE(clock.Advance(1s));
  std::jthread sleeper([&] { clock.SleepFor(1s); });
  while (clock.PendingDeadlines().empty()) std::this_thread::yield();
  EXPECT_TRUE(clock.Unlock());
  EXPECT_EQ(clock.Elapsed(), 0s);
  EXPECT_TRUE(clock.Unlock());
  sleeper.join();
  EXPECT_EQ(clock.Elapsed(), 1s);
  EXPECT_FALSE(clock.Unlock());
}

TEST(VirtualClockTest, WithoutAutoJumpTimeMovesOnlyByAdvance) {
  VirtualClock clock(VirtualClock::Options{.auto_jump = false});
  std::vector<Duration> woken;
  std::jthread sleeper([&] {
    Participant participant(clock);
    for (const Duration at : {1s, 2s, 3s}) {
      clock.SleepUntil(TimePoint{} + at);
      woken.push_back(clock.Elapsed());
    }
  });
  while (clock.PendingDeadlines().empty()) std::this_thread::yield();
  EXPECT_EQ(clock.Elapsed(), 0s);
  EXPECT_TRUE(clock.Advance(10s));
  sleeper.join();
  EXPECT_THAT(woken, ElementsAre(1s, 2s, 3s));  // each stop on the way was made
  EXPECT_EQ(clock.Elapsed(), 10s);
  EXPECT_FALSE(clock.Advance(-1s));
  EXPECT_EQ(clock.Elapsed(), 10s);
}

TEST(VirtualClockTest, TellsWhatItWaitsFor) {
  VirtualClock clock(VirtualClock::Options{.auto_jump = false});
  EXPECT_THAT(clock.PendingDeadlines(), IsEmpty());
  const auto waker = clock.NewWaker();
  std::jthread endless([&] { clock.Wait({.waker = waker.get(), .label = "next request"}); });
  std::jthread timed([&] { clock.Wait({.deadline = TimePoint{} + 7s, .label = "ping"}); });
  while (clock.PendingDeadlines().size() < 2) std::this_thread::yield();
  const auto pending = clock.PendingDeadlines();
  EXPECT_EQ(pending[0].label, "ping");
  EXPECT_EQ(pending[0].deadline, TimePoint{} + 7s);
  EXPECT_EQ(pending[1].label, "next request (no deadline)");
  waker->Wake();
  EXPECT_TRUE(clock.Advance(7s));
}

TEST(VirtualClockTest, PingPongOverARealSocketIsTheSameSequenceEveryTime) {
  // Two parties exchange bytes and sleep; were bytes in the socket buffer overlooked, a sleep would now and then jump
  // first and the trace would differ.
  std::vector<std::string> first;
  for (int round = 0; round < 200; ++round) {
    VirtualClock clock;
    ConnectionActivity& activity = *clock.connection_activity();
    const ConnectionActivity::Key key{50000, 8080};
    SocketPair pair;
    std::vector<std::string> trace;
    std::mutex mutex;
    const auto note = [&](const std::string& what) {
      std::lock_guard lock(mutex);
      trace.push_back(std::to_string(clock.Elapsed() / 1ms) + " " + what);
    };
    std::latch joined(2);
    std::jthread client([&] {
      Participant participant(clock);
      activity.Opened(Side::kClient, key);
      joined.arrive_and_wait();
      for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(write(pair.a(), "q", 1), 1);
        activity.Sent(Side::kClient, key, 1);
        char byte = 0;
        const auto outcome = clock.Wait({.fd = pair.a(), .events = POLLIN, .deadline = clock.Now() + 100ms});
        ASSERT_EQ(outcome, WaitOutcome::kReady);
        ASSERT_EQ(read(pair.a(), &byte, 1), 1);
        activity.Received(Side::kClient, key, 1);
        note("answer");
        if (i < 4) clock.SleepFor(10ms);  // an end must not sleep over the other one's close
      }
      activity.Closed(Side::kClient, key);
    });
    std::jthread server([&] {
      Participant participant(clock);
      activity.Opened(Side::kServer, key);
      joined.arrive_and_wait();
      for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(clock.Wait({.fd = pair.b(), .events = POLLIN}), WaitOutcome::kReady);
        char byte = 0;
        ASSERT_EQ(read(pair.b(), &byte, 1), 1);
        activity.Received(Side::kServer, key, 1);
        note("question");
        clock.SleepFor(99ms);
        ASSERT_EQ(write(pair.b(), "a", 1), 1);
        activity.Sent(Side::kServer, key, 1);
      }
      activity.Closed(Side::kServer, key);
    });
    client.join();
    server.join();
    if (round == 0) {
      first = trace;
      ASSERT_EQ(first.size(), 10u);
      EXPECT_EQ(first.back(), "535 answer");
    }
    ASSERT_EQ(trace, first) << "round " << round;
  }
}

}  // namespace
}  // namespace opensandbox

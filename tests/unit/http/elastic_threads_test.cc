#include "emulator/http/elastic_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;

TEST(ElasticThreadsTest, EveryTaskThatBlocksHasItsOwnThread) {
  ElasticThreads threads(100);
  std::latch all_run(50);
  for (int i = 0; i < 50; ++i) {
    // Ends only because the other forty-nine run at the same time.
    ASSERT_TRUE(threads.Run([&] { all_run.arrive_and_wait(); }));
  }
  threads.Shutdown();
  EXPECT_TRUE(all_run.try_wait());
  EXPECT_EQ(threads.threads(), 0u);
}

TEST(ElasticThreadsTest, TasksOverTheMaximumWaitTheirTurn) {
  ElasticThreads threads(2);
  std::atomic<int> running = 0, running_max = 0, done = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(threads.Run([&] {
      const int now = ++running;
      int seen = running_max;
      while (now > seen && !running_max.compare_exchange_weak(seen, now)) {
      }
      --running;
      ++done;
    }));
    EXPECT_LE(threads.threads(), 2u);
  }
  threads.Shutdown();
  EXPECT_EQ(done, 100);
  EXPECT_LE(running_max, 2);
}

TEST(ElasticThreadsTest, ThreadsAreReused) {
  ElasticThreads threads(100);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  for (int i = 0; i < 200; ++i) {
    std::latch ran(1);
    threads.Run([&] {
      std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
      ran.count_down();
    });
    ran.wait();
  }
  EXPECT_LT(ids.size(), 100u);
  EXPECT_LT(threads.threads(), 100u);
}

TEST(ElasticThreadsTest, IdleThreadsEnd) {
  ElasticThreads threads(10, 1ms);
  std::latch ran(1);
  threads.Run([&] { ran.count_down(); });
  ran.wait();
  while (threads.threads() > 0) std::this_thread::yield();
  std::latch again(1);
  EXPECT_TRUE(threads.Run([&] { again.count_down(); }));
  again.wait();
}

TEST(ElasticThreadsTest, AfterShutdownNothingRuns) {
  ElasticThreads threads(10);
  threads.Shutdown();
  EXPECT_FALSE(threads.Run([] { ADD_FAILURE(); }));
}

TEST(ElasticThreadsTest, TheStackHasTheDeclaredSize) {
  ElasticThreads threads(1);
  std::size_t size = 0;
  threads.Run([&] {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
  });
  threads.Shutdown();
  EXPECT_EQ(size, ElasticThreads::kStackBytes);
}

}  // namespace
}  // namespace opensandbox::emulator

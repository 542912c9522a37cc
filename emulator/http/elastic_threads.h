// A thread per running task: threads are made when needed, reused, and end when idle.
#ifndef OPENSANDBOX_EMULATOR_HTTP_ELASTIC_THREADS_H_
#define OPENSANDBOX_EMULATOR_HTTP_ELASTIC_THREADS_H_

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "opensandbox/base/time.h"

namespace opensandbox::emulator {

// A fixed pool starves: every open connection holds a thread. Thread-safe.
class ElasticThreads {
 public:
  // Small, because there may be ten thousand of them; larger under sanitizers, whose frames are larger.
  static const std::size_t kStackBytes;

  // `idle_max`: real time.
  explicit ElasticThreads(std::size_t threads_max, Duration idle_max = std::chrono::seconds(5));
  ~ElasticThreads();  // Shutdown()
  ElasticThreads(const ElasticThreads&) = delete;
  ElasticThreads& operator=(const ElasticThreads&) = delete;

  // Runs `task`, which must not throw, on an idle thread or a new one; waits in a queue only while there are
  // `threads_max`, or the system gives no more. Returns false after Shutdown(), and when there is not one thread and
  // none can be made.
  bool Run(std::function<void()> task);
  // Runs what is queued, then joins all threads.
  void Shutdown();
  std::size_t threads() const;

 private:
  static void* ThreadMain(void* self);
  void Work();
  bool StartThreadLocked();
  void JoinFinishedLocked(std::unique_lock<std::mutex>& lock);

  const std::size_t threads_max_;
  const Duration idle_max_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable ended_;
  std::deque<std::function<void()>> tasks_;
  std::vector<pthread_t> finished_;  // to be joined
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  bool shutdown_ = false;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_HTTP_ELASTIC_THREADS_H_

#include "emulator/http/elastic_threads.h"

#include <utility>

namespace opensandbox::emulator {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const std::size_t ElasticThreads::kStackBytes = 2 << 20;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
const std::size_t ElasticThreads::kStackBytes = 2 << 20;
#else
const std::size_t ElasticThreads::kStackBytes = 512 << 10;
#endif
#else
const std::size_t ElasticThreads::kStackBytes = 512 << 10;
#endif

ElasticThreads::ElasticThreads(std::size_t threads_max, Duration idle_max)
    : threads_max_(threads_max), idle_max_(idle_max) {}

ElasticThreads::~ElasticThreads() { Shutdown(); }

bool ElasticThreads::Run(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  if (shutdown_) return false;
  JoinFinishedLocked(lock);
  tasks_.push_back(std::move(task));
  if (tasks_.size() > idle_ && threads_ < threads_max_ && !StartThreadLocked() && threads_ == 0) {
    tasks_.pop_back();
    return false;
  }
  work_.notify_one();
  return true;
}

void ElasticThreads::Shutdown() {
  std::unique_lock lock(mutex_);
  shutdown_ = true;
  work_.notify_all();
  ended_.wait(lock, [this] { return threads_ == 0; });
  JoinFinishedLocked(lock);
}

std::size_t ElasticThreads::threads() const {
  std::lock_guard lock(mutex_);
  return threads_;
}

bool ElasticThreads::StartThreadLocked() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, &ThreadMain, this) == 0;
  pthread_attr_destroy(&attributes);
  if (started) ++threads_;
  return started;
}

void ElasticThreads::JoinFinishedLocked(std::unique_lock<std::mutex>& lock) {
  if (finished_.empty()) return;
  std::vector<pthread_t> finished = std::exchange(finished_, {});
  lock.unlock();
  for (const pthread_t thread : finished) pthread_join(thread, nullptr);
  lock.lock();
}

void* ElasticThreads::ThreadMain(void* self) {
  static_cast<ElasticThreads*>(self)->Work();
  return nullptr;
}

void ElasticThreads::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (tasks_.empty() && !shutdown_) {
      ++idle_;
      const bool more = work_.wait_for(lock, idle_max_, [this] { return !tasks_.empty() || shutdown_; });
      --idle_;
      if (!more) break;
    }
    if (tasks_.empty()) break;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
  --threads_;
  finished_.push_back(pthread_self());
  ended_.notify_all();
}

}  // namespace opensandbox::emulator

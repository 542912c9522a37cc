#include "opensandbox/base/clock.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>

namespace opensandbox {
namespace {

// One poll(2) never lasts longer, so that arithmetic on far deadlines can't overflow. The wait goes on afterwards.
constexpr Duration kPollMax = std::chrono::hours(1);
// How often a waker without a descriptor (none was to be had) is looked at instead.
constexpr Duration kBlindPoll = std::chrono::milliseconds(10);

class EventWaker : public Waker {
 public:
  EventWaker() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~EventWaker() override {
    if (fd_ >= 0) close(fd_);
  }
  EventWaker(const EventWaker&) = delete;
  EventWaker& operator=(const EventWaker&) = delete;

  void Wake() override {
    woken_ = true;
    const std::uint64_t one = 1;
    // Fails only when the counter is full, and then the descriptor is readable anyway.
    if (fd_ >= 0) [[maybe_unused]]
      const ssize_t written = write(fd_, &one, sizeof(one));
  }
  void Reset() override {
    woken_ = false;
    std::uint64_t count = 0;
    if (fd_ >= 0) [[maybe_unused]]
      const ssize_t taken = read(fd_, &count, sizeof(count));
  }
  int fd() const { return fd_; }
  bool woken() const { return woken_; }

 private:
  const int fd_;
  std::atomic<bool> woken_ = false;
};

TimePoint SteadyNow() { return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now()); }
WallTime CalendarNow() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

// Waits in real time. `remaining` tells how much longer; zero or less: the deadline is reached.
template <typename Remaining>
WaitOutcome PollUntil(const WaitRequest& request, const Remaining& remaining) {
  const auto* waker = static_cast<const EventWaker*>(request.waker);
  pollfd entries[2] = {};
  nfds_t count = 0;
  if (request.fd >= 0) entries[count++] = {request.fd, request.events, 0};
  if (waker != nullptr && waker->fd() >= 0) entries[count++] = {waker->fd(), POLLIN, 0};
  while (true) {
    // Read before the poll: a poll that begins after the deadline still has to look at the descriptors once.
    const Duration left = std::clamp(remaining(), Duration::zero(), kPollMax);
    const Duration slice = waker != nullptr && waker->fd() < 0 ? std::min(left, kBlindPoll) : left;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(slice);
    const timespec timeout = {static_cast<time_t>(seconds.count()), static_cast<long>((slice - seconds).count())};
    const int ready = ppoll(entries, count, &timeout, nullptr);
    if (waker != nullptr && waker->woken()) return WaitOutcome::kWoken;
    if (ready > 0 && request.fd >= 0 && entries[0].revents != 0) return WaitOutcome::kReady;
    if (left == Duration::zero() && ready >= 0) return WaitOutcome::kDeadline;
  }
}

}  // namespace

void Clock::SleepUntil(TimePoint when, const char* label) { Wait({.deadline = when, .label = label}); }

TimePoint SystemClock::Now() const { return SteadyNow(); }
WallTime SystemClock::WallNow() const { return CalendarNow(); }
std::shared_ptr<Waker> SystemClock::NewWaker() { return std::make_shared<EventWaker>(); }

WaitOutcome SystemClock::Wait(const WaitRequest& request) {
  return PollUntil(request, [&request] {
    if (!request.deadline) return kPollMax;
    const TimePoint now = SteadyNow();
    return *request.deadline > now ? *request.deadline - now : Duration::zero();
  });
}

SystemClock& SystemClock::Instance() {
  static SystemClock clock;
  return clock;
}

ScaledClock::ScaledClock(double factor) : factor_(factor), real_start_(SteadyNow()), wall_start_(CalendarNow()) {}

TimePoint ScaledClock::Now() const {
  const Duration real = SteadyNow() - real_start_;
  return real_start_ + Duration(static_cast<Duration::rep>(static_cast<double>(real.count()) * factor_));
}

WallTime ScaledClock::WallNow() const { return wall_start_ + (Now() - real_start_); }
std::shared_ptr<Waker> ScaledClock::NewWaker() { return std::make_shared<EventWaker>(); }

WaitOutcome ScaledClock::Wait(const WaitRequest& request) {
  return PollUntil(request, [this, &request] {
    if (!request.deadline) return kPollMax;
    const TimePoint now = Now();
    if (*request.deadline <= now) return Duration::zero();
    const double real = static_cast<double>((*request.deadline - now).count()) / factor_;
    if (real >= static_cast<double>(kPollMax.count())) return kPollMax;
    // Rounded up: never zero before the deadline.
    return Duration(static_cast<Duration::rep>(real) + 1);
  });
}

}  // namespace opensandbox

// Time as a parameter. Everything that waits, in the client and in the emulator, waits on a Clock.
#ifndef OPENSANDBOX_BASE_CLOCK_H_
#define OPENSANDBOX_BASE_CLOCK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "opensandbox/base/time.h"

namespace opensandbox {

// Ends a Clock::Wait early, from any thread. Sticky: a Wake() before the wait makes that wait return at once.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void Wake() = 0;
  virtual void Reset() = 0;
};

enum class WaitOutcome { kReady, kWoken, kDeadline };

struct WaitRequest {
  // Wait until this descriptor has one of poll(2)'s `events` (errors and hang-ups always count). -1: none.
  int fd = -1;
  short events = 0;
  // Give up when the clock reaches this. Absent: never.
  std::optional<TimePoint> deadline = std::nullopt;
  // Made by the same clock. May be null.
  Waker* waker = nullptr;
  // Shown where a clock tells what it waits for, e.g. "client idle timeout".
  const char* label = "";
};

// What both ends of a connection in one process tell a clock that may jump, so that it never jumps over bytes that
// are still under way. Each report is made *before* the system call that gives something away (close) and *after* the
// one that takes or hands over bytes (recv, send). Thread-safe.
class ConnectionActivity {
 public:
  enum class Side { kClient, kServer };
  struct Key {
    std::uint16_t client_port = 0;
    std::uint16_t server_port = 0;
    auto operator<=>(const Key&) const = default;
  };
  virtual ~ConnectionActivity() = default;
  virtual void Opened(Side side, Key key) = 0;
  virtual void Sent(Side side, Key key, std::uint64_t bytes) = 0;
  virtual void Received(Side side, Key key, std::uint64_t bytes) = 0;
  // The client keeps the connection for later and does not read from it now (true), or uses it again (false).
  virtual void Parked(Key key, bool parked) = 0;
  virtual void Closed(Side side, Key key) = 0;
};

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic.
  virtual TimePoint Now() const = 0;
  virtual WallTime WallNow() const = 0;
  virtual std::shared_ptr<Waker> NewWaker() = 0;
  // Blocks until the descriptor is ready, the waker is woken, or the deadline is reached; the first two win over the
  // third. The one primitive by which any thread of this project may block on time.
  virtual WaitOutcome Wait(const WaitRequest& request) = 0;

  // A thread whose running must hold a jumping clock still announces itself; see Participant.
  virtual void Join() {}
  virtual void Leave() {}
  // Null unless this clock may jump.
  virtual ConnectionActivity* connection_activity() { return nullptr; }

  void SleepUntil(TimePoint when, const char* label = "sleep");
  void SleepFor(Duration duration, const char* label = "sleep") { SleepUntil(Now() + duration, label); }
};

// While it lives, this thread counts: a virtual clock jumps only when every participant is inside Wait().
class Participant {
 public:
  explicit Participant(Clock& clock) : clock_(clock) { clock_.Join(); }
  ~Participant() { clock_.Leave(); }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

 private:
  Clock& clock_;
};

// Real time.
class SystemClock : public Clock {
 public:
  TimePoint Now() const override;
  WallTime WallNow() const override;
  std::shared_ptr<Waker> NewWaker() override;
  WaitOutcome Wait(const WaitRequest& request) override;
  // The process-wide instance, the default of every option struct.
  static SystemClock& Instance();
};

// Real time, `factor` times as fast. factor > 0.
class ScaledClock : public Clock {
 public:
  explicit ScaledClock(double factor);
  TimePoint Now() const override;
  WallTime WallNow() const override;
  std::shared_ptr<Waker> NewWaker() override;
  WaitOutcome Wait(const WaitRequest& request) override;
  double factor() const { return factor_; }

 private:
  double factor_;
  TimePoint real_start_;
  WallTime wall_start_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_BASE_CLOCK_H_

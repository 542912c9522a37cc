// Closes a listener for a while, so that the system itself refuses connections.
#ifndef OPENSANDBOX_EMULATOR_HTTP_REFUSAL_GATE_H_
#define OPENSANDBOX_EMULATOR_HTTP_REFUSAL_GATE_H_

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "opensandbox/base/clock.h"

namespace opensandbox::emulator {

struct RefusalWindow {
  Duration from{0};                // since the gate was made
  std::optional<Duration> until;   // absent: for ever
  std::function<void()> on_begin;  // told once the listener is closed; may be null
};

// Its thread waits on the clock, as a participant.
class RefusalGate {
 public:
  // `listener`: a listening socket bound to a port that was asked for by its number. Windows in order, apart. Returns
  // once a window that begins at once has begun.
  RefusalGate(int listener, std::vector<RefusalWindow> windows, std::shared_ptr<Clock> clock);
  ~RefusalGate();
  RefusalGate(const RefusalGate&) = delete;
  RefusalGate& operator=(const RefusalGate&) = delete;

 private:
  void Run(std::promise<void> ready);
  // False: the gate is being destroyed.
  bool WaitUntil(TimePoint when);

  const int listener_;
  const std::vector<RefusalWindow> windows_;
  const std::shared_ptr<Clock> clock_;
  const TimePoint start_;
  const std::shared_ptr<Waker> waker_;
  std::atomic<bool> over_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_HTTP_REFUSAL_GATE_H_

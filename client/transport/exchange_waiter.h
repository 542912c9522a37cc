// Waiting on behalf of one exchange: its deadline, its connect and idle timeouts and its cancellation, all on one
// Clock.
#ifndef OPENSANDBOX_CLIENT_TRANSPORT_EXCHANGE_WAITER_H_
#define OPENSANDBOX_CLIENT_TRANSPORT_EXCHANGE_WAITER_H_

#include <memory>
#include <stop_token>
#include <string>

#include "opensandbox/transport/transport.h"

namespace opensandbox::internal {

enum class Trouble {
  kNone,
  kClosed,           // the peer closed in an orderly way
  kBroken,           // refused, reset, no route, TLS failure: see the detail
  kConnectTimeout,   // ExchangeOptions::connect_timeout
  kRequestDeadline,  // ExchangeOptions::deadline
  kIdleTimeout,      // ExchangeOptions::idle_timeout
  kCancelled,        // ExchangeOptions::stop
};

struct Failure {
  Trouble trouble = Trouble::kNone;
  std::string detail;
  explicit operator bool() const { return trouble != Trouble::kNone; }
};

// Used by one thread; only the stop callback comes from another.
class ExchangeWaiter {
 public:
  // kRead restarts the idle time.
  enum class Phase { kConnect, kWrite, kRead };

  // `clock` and `options` must outlive it.
  ExchangeWaiter(Clock& clock, const ExchangeOptions& options);
  ExchangeWaiter(const ExchangeWaiter&) = delete;
  ExchangeWaiter& operator=(const ExchangeWaiter&) = delete;

  Clock& clock() { return clock_; }
  void set_phase(Phase phase);
  // A byte of the answer came: the idle time begins again.
  void NoteByte() { last_byte_ = clock_.Now(); }
  // What already forbids to go on, without waiting. Needed besides Wait(), since a descriptor that is always ready
  // would never let a deadline or a cancellation through.
  Failure Check() const;
  // Blocks until the descriptor is ready (no failure) or the exchange has to end.
  Failure Wait(int fd, short events);

 private:
  struct WakeCall {
    Waker* waker;
    void operator()() const { waker->Wake(); }
  };

  Clock& clock_;
  const ExchangeOptions& options_;
  std::shared_ptr<Waker> waker_;
  std::optional<TimePoint> connect_deadline_;
  TimePoint last_byte_;
  Phase phase_ = Phase::kConnect;
  // Last: it must be gone before the waker is.
  std::stop_callback<WakeCall> on_stop_;
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_TRANSPORT_EXCHANGE_WAITER_H_

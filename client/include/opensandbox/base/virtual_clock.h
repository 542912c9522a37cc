// A clock whose time moves only when nothing else can.
#ifndef OPENSANDBOX_BASE_VIRTUAL_CLOCK_H_
#define OPENSANDBOX_BASE_VIRTUAL_CLOCK_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "opensandbox/base/clock.h"

namespace opensandbox {

// Time stands still while any participant runs or any byte is under way between two reported connection ends. When
// every participant is inside Wait() and every byte sent has been received, the clock jumps to the earliest deadline
// and wakes that one waiter; equal deadlines wake in the order in which the waits began. So a run is a sequence, and
// the same run again is the same sequence.
//
// With `auto_jump` off (clients in other processes, whose bytes can't be counted) time moves only by Advance().
class VirtualClock : public Clock, private ConnectionActivity {
 public:
  struct Options {
    bool auto_jump = true;
    // WallNow() at Now() == start.
    WallTime wall_start = WallTime(std::chrono::seconds(1767225600));  // 2026-01-01T00:00:00Z
  };
  struct Pending {
    std::string label;
    TimePoint deadline;
  };
  struct Jump {
    TimePoint from;
    TimePoint to;
    std::string label;
  };

  VirtualClock() : VirtualClock(Options{}) {}
  explicit VirtualClock(Options options);
  ~VirtualClock() override;

  TimePoint Now() const override;
  WallTime WallNow() const override;
  std::shared_ptr<Waker> NewWaker() override;
  WaitOutcome Wait(const WaitRequest& request) override;
  void Join() override;
  void Leave() override;
  ConnectionActivity* connection_activity() override { return this; }

  // Since construction.
  Duration Elapsed() const { return Now() - TimePoint{}; }

  // While locked (counted) the clock neither jumps nor advances. An Unlock without a Lock is refused (false).
  void Lock();
  bool Unlock();
  bool locked() const;
  // Moves time forward by `by`, stopping at every deadline on the way to wake its waiter; returns false while locked
  // or for a negative `by`. With participants, waits until they are blocked again before it goes on.
  bool Advance(Duration by);
  // Waits (in real time) until nothing can happen any more without time moving on: every other participant is inside
  // Wait() with nothing ready, and every byte and every close has been seen at the other end. Time does not move
  // meanwhile if the caller is a participant, which it should be.
  void Settle();

  // What the clock waits for: all deadlines in order of time, then the waits without one ("no deadline").
  std::vector<Pending> PendingDeadlines() const;
  // Why it does not jump right now, in words; empty if it could.
  std::string Blockers() const;
  // The last jumps, oldest first, at most 4096.
  std::vector<Jump> Jumps() const;
  // All connections of this server port are over as far as the clock is concerned (listener stopped).
  void ForgetServerPort(std::uint16_t server_port);

 private:
  class VirtualWaker;
  struct Party;
  struct Connection {
    bool client_open = false, client_seen = false, server_open = false, server_seen = false, parked = false;
    std::uint64_t client_sent = 0, client_received = 0, server_sent = 0, server_received = 0;
  };

  void Opened(Side side, Key key) override;
  void Sent(Side side, Key key, std::uint64_t bytes) override;
  void Received(Side side, Key key, std::uint64_t bytes) override;
  void Parked(Key key, bool parked) override;
  void Closed(Side side, Key key) override;

  static bool Settled(const Connection& connection);
  bool QuietLocked() const;
  bool AtRestLocked() const;
  Party* EarliestLocked() const;
  void WakeLocked(Party& party, WaitOutcome outcome);
  void MaybeJumpLocked();

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  TimePoint now_{};
  int locks_ = 0;
  std::uint64_t next_sequence_ = 0;
  std::map<std::thread::id, int> participants_;
  int running_ = 0;           // participants outside Wait()
  std::set<Party*> blocked_;  // every thread inside Wait()
  std::map<Key, Connection> connections_;
  std::vector<Jump> jumps_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_BASE_VIRTUAL_CLOCK_H_

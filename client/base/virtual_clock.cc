#include "opensandbox/base/virtual_clock.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace opensandbox {
namespace {

constexpr std::size_t kJumpsMax = 4096;
// How long Advance() gives a woken thread to come to rest before it goes on, in real time.
constexpr auto kSettleGrace = std::chrono::seconds(2);

// The descriptor that ends this thread's poll(2). One per thread: a thread is in at most one Wait() at a time.
class ThreadEvent {
 public:
  ThreadEvent() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~ThreadEvent() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  void Clear() const {
    std::uint64_t count = 0;
    while (read(fd_, &count, sizeof(count)) > 0) {
    }
  }

 private:
  int fd_;
};

int ThisThreadEventFd() {
  thread_local ThreadEvent event;
  event.Clear();
  return event.fd();
}

bool IsReady(int fd, short events) {
  if (fd < 0) return false;
  pollfd entry{fd, events, 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace

// One thread inside Wait().
struct VirtualClock::Party {
  const WaitRequest* request = nullptr;
  std::uint64_t sequence = 0;
  bool participant = false;
  int event_fd = -1;
  std::optional<WaitOutcome> outcome;  // set by whoever wakes it
};

class VirtualClock::VirtualWaker : public Waker {
 public:
  explicit VirtualWaker(VirtualClock& clock) : clock_(clock) {}

  void Wake() override {
    std::lock_guard lock(clock_.mutex_);
    woken_ = true;
    for (Party* party : clock_.blocked_) {
      if (party->request->waker == this) {
        clock_.WakeLocked(*party, WaitOutcome::kWoken);
        break;  // WakeLocked changed the set; a waker serves one waiting thread
      }
    }
  }
  void Reset() override {
    std::lock_guard lock(clock_.mutex_);
    woken_ = false;
  }
  bool woken() const { return woken_; }  // under the clock's mutex

 private:
  VirtualClock& clock_;
  bool woken_ = false;
};

VirtualClock::VirtualClock(Options options) : options_(options) {}
VirtualClock::~VirtualClock() = default;

TimePoint VirtualClock::Now() const {
  std::lock_guard lock(mutex_);
  return now_;
}

WallTime VirtualClock::WallNow() const { return options_.wall_start + (Now() - TimePoint{}); }

std::shared_ptr<Waker> VirtualClock::NewWaker() { return std::make_shared<VirtualWaker>(*this); }

WaitOutcome VirtualClock::Wait(const WaitRequest& request) {
  const int event_fd = ThisThreadEventFd();
  Party party;
  party.request = &request;
  party.event_fd = event_fd;
  {
    std::lock_guard lock(mutex_);
    if (request.waker != nullptr && static_cast<VirtualWaker*>(request.waker)->woken()) return WaitOutcome::kWoken;
    if (IsReady(request.fd, request.events)) return WaitOutcome::kReady;
    if (request.deadline && *request.deadline <= now_) return WaitOutcome::kDeadline;
    party.sequence = next_sequence_++;
    party.participant = participants_.count(std::this_thread::get_id()) > 0;
    blocked_.insert(&party);
    if (party.participant) --running_;
    changed_.notify_all();
    MaybeJumpLocked();
  }
  pollfd entries[2] = {{event_fd, POLLIN, 0}, {request.fd, request.events, 0}};
  const nfds_t count = request.fd >= 0 ? 2 : 1;
  while (poll(entries, count, -1) < 0 && errno == EINTR) {
  }
  std::lock_guard lock(mutex_);
  if (!party.outcome) {
    blocked_.erase(&party);
    if (party.participant) ++running_;
    return WaitOutcome::kReady;
  }
  // Bytes of a peer that this clock does not count may have come in the same moment.
  if (*party.outcome == WaitOutcome::kDeadline && IsReady(request.fd, request.events)) return WaitOutcome::kReady;
  return *party.outcome;
}

void VirtualClock::Join() {
  std::lock_guard lock(mutex_);
  if (participants_[std::this_thread::get_id()]++ == 0) ++running_;
}

void VirtualClock::Leave() {
  std::lock_guard lock(mutex_);
  const auto it = participants_.find(std::this_thread::get_id());
  if (it == participants_.end()) return;
  if (--it->second > 0) return;
  participants_.erase(it);
  --running_;
  changed_.notify_all();
  MaybeJumpLocked();
}

void VirtualClock::Lock() {
  std::lock_guard lock(mutex_);
  ++locks_;
}

bool VirtualClock::Unlock() {
  std::lock_guard lock(mutex_);
  if (locks_ == 0) return false;
  --locks_;
  MaybeJumpLocked();
  return true;
}

bool VirtualClock::locked() const {
  std::lock_guard lock(mutex_);
  return locks_ > 0;
}

bool VirtualClock::Advance(Duration by) {
  std::unique_lock lock(mutex_);
  if (locks_ > 0 || by < Duration::zero()) return false;
  const int own = participants_.count(std::this_thread::get_id()) > 0 ? 1 : 0;
  const auto at_rest = [&] {
    // A client in another process never tells what it has read, so there is nothing to wait for.
    return running_ <= own && std::all_of(connections_.begin(), connections_.end(), [&](const auto& entry) {
             return Settled(entry.second) || (!options_.auto_jump && !entry.second.client_seen);
           });
  };
  const TimePoint from = now_;
  const TimePoint target = now_ + by;
  while (Party* party = EarliestLocked()) {
    if (*party->request->deadline > target) break;
    now_ = std::max(now_, *party->request->deadline);
    WakeLocked(*party, WaitOutcome::kDeadline);
    changed_.wait_for(lock, kSettleGrace, at_rest);
  }
  now_ = std::max(now_, target);
  jumps_.push_back({from, now_, "advance"});
  return true;
}

void VirtualClock::Settle() {
  std::unique_lock lock(mutex_);
  const int own = participants_.count(std::this_thread::get_id()) > 0 ? 1 : 0;
  // Whatever makes the answer change is followed by a Wait(), Leave() or report of the thread that did it, each of
  // which notifies.
  changed_.wait(lock, [&] { return running_ <= own && AtRestLocked(); });
}

std::vector<VirtualClock::Pending> VirtualClock::PendingDeadlines() const {
  std::lock_guard lock(mutex_);
  std::vector<const Party*> parties(blocked_.begin(), blocked_.end());
  std::sort(parties.begin(), parties.end(), [](const Party* a, const Party* b) {
    const TimePoint a_at = a->request->deadline.value_or(TimePoint::max());
    const TimePoint b_at = b->request->deadline.value_or(TimePoint::max());
    return a_at != b_at ? a_at < b_at : a->sequence < b->sequence;
  });
  std::vector<Pending> pending;
  for (const Party* party : parties) {
    const bool timed = party->request->deadline.has_value();
    pending.push_back({std::string(party->request->label) + (timed ? "" : " (no deadline)"),
                       party->request->deadline.value_or(TimePoint::max())});
  }
  return pending;
}

std::string VirtualClock::Blockers() const {
  std::lock_guard lock(mutex_);
  std::string text;
  const auto add = [&text](const std::string& reason) {
    if (!text.empty()) text += "; ";
    text += reason;
  };
  if (!options_.auto_jump) add("it is advanced by hand");
  if (locks_ > 0) add("locked " + std::to_string(locks_) + " times");
  if (running_ > 0) add(std::to_string(running_) + " threads are running");
  for (const auto& [key, connection] : connections_) {
    if (Settled(connection)) continue;
    add("connection from port " + std::to_string(key.client_port) + ": client " +
        (connection.client_open ? "open" : (connection.client_seen ? "closed" : "not opened")) + ", server " +
        (connection.server_open ? "open" : (connection.server_seen ? "closed" : "not accepted")) + ", " +
        std::to_string(connection.client_sent - connection.server_received) + " bytes under way to the server, " +
        std::to_string(connection.server_sent - connection.client_received) + " to the client");
  }
  if (text.empty() && EarliestLocked() == nullptr) add("no wait has a deadline");
  return text;
}

std::vector<VirtualClock::Jump> VirtualClock::Jumps() const {
  std::lock_guard lock(mutex_);
  return jumps_;
}

void VirtualClock::ForgetServerPort(std::uint16_t server_port) {
  std::lock_guard lock(mutex_);
  std::erase_if(connections_, [&](const auto& entry) { return entry.first.server_port == server_port; });
  changed_.notify_all();
  MaybeJumpLocked();
}

void VirtualClock::Opened(Side side, Key key) {
  std::lock_guard lock(mutex_);
  Connection& connection = connections_[key];
  if (side == Side::kClient) {
    // The kernel gives an address pair out again only after the connection before it is gone on both ends.
    if (connection.client_seen) connection = Connection{};
    connection.client_open = connection.client_seen = true;
  } else {
    if (connection.server_seen) connection = Connection{};
    connection.server_open = connection.server_seen = true;
  }
  MaybeJumpLocked();
}

void VirtualClock::Sent(Side side, Key key, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto it = connections_.find(key);
  if (it == connections_.end()) return;
  (side == Side::kClient ? it->second.client_sent : it->second.server_sent) += bytes;
  changed_.notify_all();
  MaybeJumpLocked();
}

void VirtualClock::Received(Side side, Key key, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto it = connections_.find(key);
  if (it == connections_.end()) return;
  (side == Side::kClient ? it->second.client_received : it->second.server_received) += bytes;
  changed_.notify_all();
  MaybeJumpLocked();
}

void VirtualClock::Parked(Key key, bool parked) {
  std::lock_guard lock(mutex_);
  const auto it = connections_.find(key);
  if (it == connections_.end()) return;
  it->second.parked = parked;
  MaybeJumpLocked();
}

void VirtualClock::Closed(Side side, Key key) {
  std::lock_guard lock(mutex_);
  const auto it = connections_.find(key);
  if (it == connections_.end()) return;
  (side == Side::kClient ? it->second.client_open : it->second.server_open) = false;
  const Connection& connection = it->second;
  const bool both_seen = connection.client_seen && connection.server_seen;
  // With auto_jump off the other end may be one that never reports.
  if (!connection.client_open && !connection.server_open && (both_seen || !options_.auto_jump)) {
    connections_.erase(it);
  }
  changed_.notify_all();
  MaybeJumpLocked();
}

bool VirtualClock::Settled(const Connection& c) {
  if (c.client_open && c.server_open) {
    return c.client_sent == c.server_received && (c.parked || c.server_sent == c.client_received);
  }
  // Only a parked client end may overlook that the server has closed. In every other mixed state somebody is about to
  // notice: the server has still to accept, or one end has still to see the other's close.
  return c.client_open && c.server_seen && c.parked;
}

bool VirtualClock::QuietLocked() const { return running_ <= 0 && AtRestLocked(); }

bool VirtualClock::AtRestLocked() const {
  for (const auto& [key, connection] : connections_) {
    if (!Settled(connection)) return false;
  }
  for (const Party* party : blocked_) {
    if (IsReady(party->request->fd, party->request->events)) return false;
  }
  return true;
}

VirtualClock::Party* VirtualClock::EarliestLocked() const {
  Party* earliest = nullptr;
  for (Party* party : blocked_) {
    if (!party->request->deadline) continue;
    if (earliest == nullptr || *party->request->deadline < *earliest->request->deadline ||
        (*party->request->deadline == *earliest->request->deadline && party->sequence < earliest->sequence)) {
      earliest = party;
    }
  }
  return earliest;
}

void VirtualClock::WakeLocked(Party& party, WaitOutcome outcome) {
  party.outcome = outcome;
  blocked_.erase(&party);
  if (party.participant) ++running_;
  const std::uint64_t one = 1;
  // Can't fail: the counter of a descriptor that this thread's Wait() cleared is far from its maximum.
  [[maybe_unused]] const ssize_t written = write(party.event_fd, &one, sizeof(one));
}

void VirtualClock::MaybeJumpLocked() {
  if (!options_.auto_jump || locks_ > 0 || !QuietLocked()) return;
  Party* party = EarliestLocked();
  if (party == nullptr) return;
  const TimePoint to = std::max(now_, *party->request->deadline);
  if (to > now_) {
    if (jumps_.size() >= kJumpsMax) jumps_.erase(jumps_.begin(), jumps_.begin() + kJumpsMax / 2);
    jumps_.push_back({now_, to, party->request->label});
    now_ = to;
  }
  WakeLocked(*party, WaitOutcome::kDeadline);
}

}  // namespace opensandbox

// The sandboxes of sessions: who uses which, and which has to go.
#ifndef OPENSANDBOX_CLIENT_INTERCEPTION_SESSION_POOL_H_
#define OPENSANDBOX_CLIENT_INTERCEPTION_SESSION_POOL_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "client/interception/clock_condition.h"
#include "opensandbox/interception/interception_handler.h"

namespace opensandbox::internal {

struct SessionKey {
  std::string identity;
  std::string session_id;
  auto operator<=>(const SessionKey&) const = default;
};

// A place for one sandbox.
struct SandboxSlot {
  std::optional<PairedSandbox> sandbox;
  std::optional<TimePoint> expires_at;  // by the lifetime that was asked for; absent: unknown
  std::optional<TimePoint> renewed_at;  // when its life was last known to have been set
};

// Thread-safe. A session is pinned for as long as a request needs it, and locked while one runs code in it; what is
// pinned is neither evicted nor pruned. A session that is being deleted still counts, so an identity never has more
// sandboxes than it may.
class SessionPool {
 public:
  struct Options {
    Duration idle_timeout{0};
    std::size_t per_identity_max = 0;
    Duration slot_wait{0};
    bool prune_in_background = false;
  };
  using DeleteSandbox = std::function<void(const PairedSandbox&)>;

 private:
  struct Session {
    explicit Session(SessionKey session_key) : key(std::move(session_key)) {}
    const SessionKey key;
    // Under the pool's mutex.
    int pins = 0;
    bool locked = false;
    bool closing = false;
    TimePoint last_used{};
    std::uint64_t last_use = 0;
    std::uint64_t failures_count = 0;
    std::optional<Error> last_failure;
    // Of whoever has it locked, or closing.
    SandboxSlot slot;
  };

 public:
  class Pin {
   public:
    Pin(Pin&& other) noexcept;
    Pin& operator=(Pin&& other) noexcept;
    ~Pin();

   private:
    friend class SessionPool;
    Pin(SessionPool* pool, std::shared_ptr<Session> session) : pool_(pool), session_(std::move(session)) {}
    SessionPool* pool_;
    std::shared_ptr<Session> session_;  // null: moved from
  };

  class Lock {
   public:
    Lock(Lock&& other) noexcept;
    Lock& operator=(Lock&&) = delete;
    ~Lock();
    SandboxSlot& slot() { return session_->slot; }
    // Others that wait for this session now get the same error instead of failing in the same way one by one.
    void NoteFailure(const Error& error);

   private:
    friend class SessionPool;
    Lock(SessionPool* pool, std::shared_ptr<Session> session) : pool_(pool), session_(std::move(session)) {}
    SessionPool* pool_;
    std::shared_ptr<Session> session_;
  };

  SessionPool(Options options, Clock& clock, DeleteSandbox delete_sandbox);
  // Deletes all; nothing may be pinned any more.
  ~SessionPool();
  SessionPool(const SessionPool&) = delete;
  SessionPool& operator=(const SessionPool&) = delete;

  // Finds or makes the session. Evicts the identity's least recently used one first, if there is no room. kTimeout: all
  // of them stayed in use for the slot wait. kCancelled.
  Result<Pin> Acquire(const SessionKey& key, const std::stop_token& stop);
  // Waits for whoever has it. kCancelled; the error of an attempt that failed meanwhile.
  Result<Lock> Use(const Pin& pin, const std::stop_token& stop);

  std::size_t Prune();
  std::size_t DeleteIdle();
  std::size_t size() const;

 private:
  using Sessions = std::map<SessionKey, std::shared_ptr<Session>>;

  std::size_t CountLocked(const std::string& identity) const;
  std::shared_ptr<Session> LeastRecentlyUsedLocked(const std::string& identity) const;
  void TouchLocked(Session& session);
  // Deletes sessions that are marked as closing, and forgets them.
  void Close(std::unique_lock<std::mutex>& lock, const std::vector<std::shared_ptr<Session>>& sessions);
  std::size_t CloseIf(const std::function<bool(const Session&)>& condition);
  void Unpin(Session& session);
  void Unlock(Session& session);
  void PruneInBackground(const std::stop_token& stop);

  const Options options_;
  Clock& clock_;
  const DeleteSandbox delete_sandbox_;
  mutable std::mutex mutex_;
  ClockCondition changed_;
  Sessions sessions_;
  std::uint64_t uses_count_ = 0;  // orders uses at the same time
  std::jthread sweeper_;
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_INTERCEPTION_SESSION_POOL_H_

#include "client/interception/session_pool.h"

#include <algorithm>
#include <utility>

namespace opensandbox::internal {
namespace {

Error Cancelled() {
  Error error;
  error.kind = ErrorKind::kCancelled;
  error.message = "The request was cancelled while it waited for its session's sandbox.";
  return error;
}

}  // namespace

SessionPool::Pin::Pin(Pin&& other) noexcept : pool_(other.pool_), session_(std::move(other.session_)) {}

SessionPool::Pin& SessionPool::Pin::operator=(Pin&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(session_, other.session_);
  return *this;
}

SessionPool::Pin::~Pin() {
  if (session_ != nullptr) pool_->Unpin(*session_);
}

SessionPool::Lock::Lock(Lock&& other) noexcept : pool_(other.pool_), session_(std::move(other.session_)) {}

SessionPool::Lock::~Lock() {
  if (session_ != nullptr) pool_->Unlock(*session_);
}

void SessionPool::Lock::NoteFailure(const Error& error) {
  const std::lock_guard lock(pool_->mutex_);
  ++session_->failures_count;
  session_->last_failure = error;
}

SessionPool::SessionPool(Options options, Clock& clock, DeleteSandbox delete_sandbox)
    : options_(options), clock_(clock), delete_sandbox_(std::move(delete_sandbox)), changed_(clock) {}

SessionPool::~SessionPool() {
  sweeper_ = {};  // stops and joins
  CloseIf([](const Session&) { return true; });
}

Result<SessionPool::Pin> SessionPool::Acquire(const SessionKey& key, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const TimePoint deadline = clock_.Now() + options_.slot_wait;
  for (;;) {
    if (stop.stop_requested()) return Cancelled();
    const auto found = sessions_.find(key);
    if (found != sessions_.end() && found->second->closing) {
      changed_.Wait(lock, std::nullopt, stop, "deletion of a session's sandbox");
      continue;
    }
    if (found != sessions_.end()) {
      ++found->second->pins;
      TouchLocked(*found->second);
      return Pin(this, found->second);
    }
    if (CountLocked(key.identity) < options_.per_identity_max) {
      auto session = std::make_shared<Session>(key);
      session->pins = 1;
      TouchLocked(*session);
      sessions_.emplace(key, session);
      if (options_.prune_in_background && !sweeper_.joinable()) {
        sweeper_ = std::jthread([this](const std::stop_token& own_stop) { PruneInBackground(own_stop); });
      }
      return Pin(this, std::move(session));
    }
    if (std::shared_ptr<Session> oldest = LeastRecentlyUsedLocked(key.identity)) {
      oldest->closing = true;
      Close(lock, {std::move(oldest)});
      continue;
    }
    if (clock_.Now() >= deadline) {
      Error error;
      error.kind = ErrorKind::kTimeout;
      error.timeout_clock = TimeoutClock::kReady;
      error.message =
          "All " + std::to_string(options_.per_identity_max) + " session sandboxes of this caller are in use.";
      return error;
    }
    changed_.Wait(lock, deadline, stop, "free session slot");
  }
}

Result<SessionPool::Lock> SessionPool::Use(const Pin& pin, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  Session& session = *pin.session_;
  const std::uint64_t failures_before = session.failures_count;
  while (session.locked) {
    if (stop.stop_requested()) return Cancelled();
    changed_.Wait(lock, std::nullopt, stop, "session's sandbox");
  }
  if (stop.stop_requested()) return Cancelled();
  if (session.failures_count != failures_before && !session.slot.sandbox) return *session.last_failure;
  session.locked = true;
  TouchLocked(session);
  return Lock(this, pin.session_);
}

std::size_t SessionPool::Prune() {
  const TimePoint now = clock_.Now();
  return CloseIf([&](const Session& session) { return now - session.last_used >= options_.idle_timeout; });
}

std::size_t SessionPool::DeleteIdle() {
  return CloseIf([](const Session&) { return true; });
}

std::size_t SessionPool::size() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

std::size_t SessionPool::CountLocked(const std::string& identity) const {
  std::size_t count = 0;
  for (auto it = sessions_.lower_bound({identity, ""}); it != sessions_.end() && it->first.identity == identity; ++it) {
    ++count;
  }
  return count;
}

std::shared_ptr<SessionPool::Session> SessionPool::LeastRecentlyUsedLocked(const std::string& identity) const {
  std::shared_ptr<Session> oldest;
  for (auto it = sessions_.lower_bound({identity, ""}); it != sessions_.end() && it->first.identity == identity; ++it) {
    const std::shared_ptr<Session>& session = it->second;
    if (session->pins > 0 || session->closing) continue;
    if (oldest == nullptr || session->last_use < oldest->last_use) oldest = session;
  }
  return oldest;
}

void SessionPool::TouchLocked(Session& session) {
  session.last_used = clock_.Now();
  session.last_use = ++uses_count_;
}

void SessionPool::Close(std::unique_lock<std::mutex>& lock, const std::vector<std::shared_ptr<Session>>& sessions) {
  lock.unlock();
  for (const std::shared_ptr<Session>& session : sessions) {
    if (session->slot.sandbox) delete_sandbox_(*session->slot.sandbox);
    lock.lock();
    sessions_.erase(session->key);
    changed_.NotifyAll();
    lock.unlock();
  }
  lock.lock();
}

std::size_t SessionPool::CloseIf(const std::function<bool(const Session&)>& condition) {
  std::unique_lock lock(mutex_);
  std::vector<std::shared_ptr<Session>> closing;
  for (const auto& [key, session] : sessions_) {
    if (session->pins > 0 || session->closing || !condition(*session)) continue;
    session->closing = true;
    closing.push_back(session);
  }
  Close(lock, closing);
  return closing.size();
}

void SessionPool::Unpin(Session& session) {
  const std::lock_guard lock(mutex_);
  TouchLocked(session);
  // A session without a sandbox holds nothing that is worth a slot.
  if (--session.pins == 0 && !session.slot.sandbox) sessions_.erase(session.key);
  changed_.NotifyAll();
}

void SessionPool::Unlock(Session& session) {
  const std::lock_guard lock(mutex_);
  session.locked = false;
  TouchLocked(session);
  changed_.NotifyAll();
}

void SessionPool::PruneInBackground(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      std::optional<TimePoint> due;
      for (const auto& [key, session] : sessions_) {
        if (session->pins > 0 || session->closing) continue;
        const TimePoint end = session->last_used + options_.idle_timeout;
        if (!due || end < *due) due = end;
      }
      if (!due || *due > clock_.Now()) {
        changed_.Wait(lock, due, stop, "idle session");
        continue;
      }
    }
    Prune();
  }
}

}  // namespace opensandbox::internal

#include "client/transport/connection_pool.h"

#include <iterator>

namespace opensandbox::internal {
namespace {

// Servers close an idle connection after 5 s (uvicorn, cpp-httplib) or later. A request that crosses that close has an
// unknown outcome, so it is not sent on a connection that is close to it.
constexpr Duration kIdleMax = std::chrono::seconds(4);

}  // namespace

std::unique_ptr<Connection> ConnectionPool::Take(const std::string& origin) {
  // Before the lock, so that closing happens after it is given back.
  std::vector<std::unique_ptr<Connection>> useless;
  std::lock_guard lock(mutex_);
  DropOldLocked(&useless);
  const auto it = idle_.find(origin);
  if (it == idle_.end()) return nullptr;
  std::unique_ptr<Connection> taken;
  auto& connections = it->second;
  while (!connections.empty() && !taken) {
    std::unique_ptr<Connection> newest = std::move(connections.back());
    connections.pop_back();
    if (newest->IsStale()) {
      useless.push_back(std::move(newest));
    } else {
      taken = std::move(newest);
    }
  }
  if (connections.empty()) idle_.erase(it);
  if (taken) taken->Park(false);
  return taken;
}

void ConnectionPool::Put(const std::string& origin, std::unique_ptr<Connection> connection) {
  if (per_origin_max_ == 0) return;
  connection->Park(true);
  std::vector<std::unique_ptr<Connection>> useless;
  std::lock_guard lock(mutex_);
  DropOldLocked(&useless);
  auto& connections = idle_[origin];
  connections.push_back(std::move(connection));
  if (connections.size() > per_origin_max_) {
    useless.push_back(std::move(connections.front()));
    connections.pop_front();
  }
}

void ConnectionPool::DropOldLocked(std::vector<std::unique_ptr<Connection>>* useless) {
  const TimePoint now = clock_.Now();
  for (auto it = idle_.begin(); it != idle_.end();) {
    auto& connections = it->second;
    while (!connections.empty() && now - connections.front()->parked_at() > kIdleMax) {
      useless->push_back(std::move(connections.front()));
      connections.pop_front();
    }
    it = connections.empty() ? idle_.erase(it) : std::next(it);
  }
}

}  // namespace opensandbox::internal

// Connections that are kept open for the next request to the same origin.
#ifndef OPENSANDBOX_CLIENT_TRANSPORT_CONNECTION_POOL_H_
#define OPENSANDBOX_CLIENT_TRANSPORT_CONNECTION_POOL_H_

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/transport/connection.h"

namespace opensandbox::internal {

// Thread-safe.
class ConnectionPool {
 public:
  ConnectionPool(Clock& clock, std::size_t per_origin_max) : clock_(clock), per_origin_max_(per_origin_max) {}

  // The one used last, null if there is none. Connections that the server has closed meanwhile, or that were idle for
  // so long that it may be about to, are thrown away on the way.
  std::unique_ptr<Connection> Take(const std::string& origin);
  // Keeps it, in place of the oldest one if there are too many.
  void Put(const std::string& origin, std::unique_ptr<Connection> connection);

 private:
  // Of every origin: each sandbox may be one, and most are never called again.
  void DropOldLocked(std::vector<std::unique_ptr<Connection>>* useless);

  Clock& clock_;
  const std::size_t per_origin_max_;
  std::mutex mutex_;
  std::map<std::string, std::deque<std::unique_ptr<Connection>>> idle_;  // newest last
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_TRANSPORT_CONNECTION_POOL_H_

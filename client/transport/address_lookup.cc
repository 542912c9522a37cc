#include "client/transport/address_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

namespace opensandbox::internal {
namespace {

// Shared by the thread that looks up and the one that waits; whoever goes last frees it.
struct Lookup {
  Lookup() : done_fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Lookup() {
    if (done_fd >= 0) close(done_fd);
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  const int done_fd;
  std::mutex mutex;
  int error = 0;  // of getaddrinfo(3)
  std::vector<SocketAddress> addresses;
};

void Resolve(const std::string& host, std::uint16_t port, int flags, Lookup& lookup) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  std::lock_guard lock(lookup.mutex);
  lookup.error = error;
  if (error != 0) return;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    SocketAddress address;
    if (entry->ai_addrlen > sizeof(address.storage)) continue;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    lookup.addresses.push_back(address);
  }
  freeaddrinfo(found);
}

Failure Finish(const std::string& host, Lookup& lookup, std::vector<SocketAddress>* addresses) {
  std::lock_guard lock(lookup.mutex);
  if (lookup.error != 0) {
    return {Trouble::kBroken, "can't look up host '" + host + "': " + gai_strerror(lookup.error)};
  }
  if (lookup.addresses.empty()) return {Trouble::kBroken, "host '" + host + "' has no address"};
  *addresses = lookup.addresses;
  return {};
}

}  // namespace

Failure LookUp(const Url& url, ExchangeWaiter& waiter, std::vector<SocketAddress>* addresses) {
  auto lookup = std::make_shared<Lookup>();
  if (url.host_is_ip) {
    Resolve(url.host, url.port, AI_NUMERICHOST, *lookup);
    return Finish(url.host, *lookup, addresses);
  }
  if (url.host == "localhost") {  // always the loopback interface (RFC 6761, 6.3)
    Resolve("127.0.0.1", url.port, AI_NUMERICHOST, *lookup);
    Resolve("::1", url.port, AI_NUMERICHOST, *lookup);
    return Finish(url.host, *lookup, addresses);
  }
  // A jumping clock must not run on while the name server is asked, and it counts this thread as running.
  if (waiter.clock().connection_activity() != nullptr || lookup->done_fd < 0) {
    Resolve(url.host, url.port, 0, *lookup);
    return Finish(url.host, *lookup, addresses);
  }
  try {
    std::thread([lookup, host = url.host, port = url.port] {
      Resolve(host, port, 0, *lookup);
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t written = write(lookup->done_fd, &one, sizeof(one));
    }).detach();
  } catch (const std::system_error& error) {
    return {Trouble::kBroken, std::string("can't start a thread to look up the host: ") + error.what()};
  }
  if (Failure failure = waiter.Wait(lookup->done_fd, POLLIN)) return failure;
  return Finish(url.host, *lookup, addresses);
}

}  // namespace opensandbox::internal

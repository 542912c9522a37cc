#include "emulator/http/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace opensandbox::emulator {
namespace {

constexpr int kBacklog = 4096;

std::string HostAndPort(const std::string& host, int port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? std::string("[").append(host) + "]" : host) + ":" + std::to_string(port);
}

int PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return address.ss_family == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port)
                                       : ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// -1 with errno set.
int BindAndListen(const addrinfo& address) {
  const int fd = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol);
  if (fd < 0) return -1;
  const int on = 1;
  // Not SO_REUSEPORT, which cpp-httplib sets: with it a second server on a used port starts and gets half the clients.
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(fd, address.ai_addr, address.ai_addrlen) == 0 && listen(fd, kBacklog) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

}  // namespace

Result<Listener> Listen(const std::string& host, int port) {
  if (port < 0 || port > 65535) {
    return Error{.kind = ErrorKind::kInvalidArgument,
                 .message = "cannot listen on port " + std::to_string(port) + ": not in 0..65535"};
  }
  if (host.empty()) {
    return Error{.kind = ErrorKind::kInvalidArgument, .message = "cannot listen: the host is empty"};
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) {
    return Error{.kind = ErrorKind::kInvalidArgument,
                 .message = "cannot listen on " + HostAndPort(host, port) + ": " + gai_strerror(failed)};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, &freeaddrinfo);
  int error = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    Listener listener;
    listener.fd = BindAndListen(*address);
    if (listener.fd >= 0) {
      listener.port = PortOf(listener.fd);
      listener.address = HostAndPort(host, listener.port);
      return listener;
    }
    if (error == 0) error = errno;
  }
  return Error{
      .kind = ErrorKind::kTransport,
      .message = "cannot listen on " + HostAndPort(host, port) + ": " + std::generic_category().message(error)};
}

Result<Listener> ListenPausable(const std::string& host, int port) {
  constexpr int kTriesMax = 10;
  for (int tries = 1;; ++tries) {
    Result<Listener> listener = Listen(host, port);
    if (!listener || port != 0) return listener;
    const int number = listener->port;
    close(listener->fd);
    listener = Listen(host, number);
    // Somebody else may have been faster.
    if (listener || tries == kTriesMax) return listener;
  }
}

void PauseListening(int fd) { shutdown(fd, SHUT_RD); }

void ResumeListening(int fd) { listen(fd, kBacklog); }

}  // namespace opensandbox::emulator

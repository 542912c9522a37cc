#include "client/transport/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "client/transport/address_lookup.h"

namespace opensandbox::internal {
namespace {

// Plain bytes of one TLS record at most (RFC 8446, 5.1), and a comfortable read.
constexpr std::size_t kPieceBytes = 16 << 10;
// In real time, on a clock that may jump: the kernel finishes a loopback handshake at once, but maybe not yet.
constexpr int kHandshakeGraceMs = 200;

std::string Describe(int error) { return std::generic_category().message(error); }

std::uint16_t PortOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Failure FromErrno(int error) { return {Trouble::kBroken, Describe(error)}; }

// A descriptor that closes itself until it is released.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Linux connects a socket to itself when the kernel happens to pick the port that is called (a "simultaneous open"
// with oneself). Nobody listens there.
bool IsConnectedToItself(int fd) {
  sockaddr_storage local = {};
  sockaddr_storage remote = {};
  socklen_t local_size = sizeof(local);
  socklen_t remote_size = sizeof(remote);
  return getsockname(fd, reinterpret_cast<sockaddr*>(&local), &local_size) == 0 &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&remote), &remote_size) == 0 && local_size == remote_size &&
         std::memcmp(&local, &remote, local_size) == 0;
}

Failure Connect(const SocketAddress& address, ExchangeWaiter& waiter, int* connected_fd) {
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) return FromErrno(errno);
  const int on = 1;
  setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return FromErrno(errno);
    if (waiter.clock().connection_activity() != nullptr) {
      pollfd entry = {socket.fd(), POLLOUT, 0};
      poll(&entry, 1, kHandshakeGraceMs);
    }
    if (Failure failure = waiter.Wait(socket.fd(), POLLOUT)) return failure;
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) return FromErrno(error);
  }
  if (IsConnectedToItself(socket.fd())) return FromErrno(ECONNREFUSED);
  *connected_fd = socket.Release();
  return {};
}

}  // namespace

Failure Connection::Open(const Url& url, TlsContext& tls, ExchangeWaiter& waiter,
                         std::unique_ptr<Connection>* connection) {
  waiter.set_phase(ExchangeWaiter::Phase::kConnect);
  if (Failure failure = waiter.Check()) return failure;
  std::vector<SocketAddress> addresses;
  if (Failure failure = LookUp(url, waiter, &addresses)) return failure;
  Failure last;
  for (const SocketAddress& address : addresses) {
    int fd = -1;
    last = Connect(address, waiter, &fd);
    if (!last) {
      std::unique_ptr<Connection> opened(new Connection(fd, waiter.clock()));
      if (url.secure) {
        if (Failure failure = opened->Handshake(url, tls, waiter)) return failure;
      }
      opened->bytes_written_count_ = 0;
      *connection = std::move(opened);
      return {};
    }
    if (last.trouble != Trouble::kBroken) return last;  // the time is up, or the caller has had enough
  }
  last.detail = "can't connect to " + url.host_header + ": " + last.detail;
  return last;
}

Connection::Connection(int fd, Clock& clock) : fd_(fd), clock_(clock) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) key_.client_port = PortOf(address);
  size = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) key_.server_port = PortOf(address);
  if (auto* activity = clock_.connection_activity()) activity->Opened(ConnectionActivity::Side::kClient, key_);
}

Connection::~Connection() {
  if (auto* activity = clock_.connection_activity()) activity->Closed(ConnectionActivity::Side::kClient, key_);
  close(fd_);
}

bool Connection::IsStale() const {
  pollfd entry = {fd_, POLLIN, 0};
  return poll(&entry, 1, 0) != 0;
}

void Connection::Park(bool parked) {
  if (parked) {
    parked_at_ = clock_.Now();
  } else {
    bytes_written_count_ = 0;
  }
  if (auto* activity = clock_.connection_activity()) activity->Parked(key_, parked);
}

Failure Connection::Send(ExchangeWaiter& waiter, std::string_view data) {
  if (!tls_) return SendRaw(waiter, data);
  while (!data.empty()) {
    const std::string_view piece = data.substr(0, kPieceBytes);
    switch (tls_->Write(piece)) {
      case TlsSession::Step::kDone:
        data.remove_prefix(piece.size());
        break;
      case TlsSession::Step::kNeedsInput:
        if (Failure failure = ReceiveTlsInput(waiter)) return failure;
        break;
      case TlsSession::Step::kClosed:
        return {Trouble::kBroken, "the server has ended the TLS session"};
      case TlsSession::Step::kFailed:
        return {Trouble::kBroken, tls_->error()};
    }
    if (Failure failure = SendTlsOutput(waiter)) return failure;
  }
  return {};
}

Failure Connection::Receive(ExchangeWaiter& waiter, char* buffer, std::size_t size, std::size_t* count) {
  if (!tls_) return ReceiveRaw(waiter, buffer, size, count);
  while (true) {
    // A session that always has plain bytes left must not hide the deadline either.
    if (Failure failure = waiter.Check()) return failure;
    const TlsSession::Step step = tls_->Read(buffer, size, count);
    if (Failure failure = SendTlsOutput(waiter)) return failure;  // an alert, or the answer to a key update
    switch (step) {
      case TlsSession::Step::kDone:
        return {};
      case TlsSession::Step::kNeedsInput:
        break;
      case TlsSession::Step::kClosed:
        return {Trouble::kClosed, "the server closed the connection"};
      case TlsSession::Step::kFailed:
        return {Trouble::kBroken, tls_->error()};
    }
    Failure failure = ReceiveTlsInput(waiter);
    if (failure.trouble == Trouble::kClosed) {
      // Anybody on the way can send a FIN. Only the session's own end is one (RFC 8446, 6.1).
      return {Trouble::kBroken, "the connection was closed without the end of the TLS session"};
    }
    if (failure) return failure;
  }
}

Failure Connection::Handshake(const Url& url, TlsContext& tls, ExchangeWaiter& waiter) {
  std::string error;
  tls_ = TlsSession::Make(tls, url.host, url.host_is_ip, &error);
  if (!tls_) return {Trouble::kBroken, error};
  while (true) {
    const TlsSession::Step step = tls_->Handshake();
    const Failure sent = SendTlsOutput(waiter);  // of a failed handshake: the alert that tells the server why
    if (step == TlsSession::Step::kFailed) return {Trouble::kBroken, tls_->error()};
    if (sent) return sent;
    if (step == TlsSession::Step::kDone) return {};
    Failure failure = step == TlsSession::Step::kClosed ? Failure{Trouble::kClosed, ""} : ReceiveTlsInput(waiter);
    if (failure.trouble == Trouble::kClosed) {
      return {Trouble::kBroken, "the server closed the connection during the TLS handshake"};
    }
    if (failure) return failure;
  }
}

Failure Connection::SendTlsOutput(ExchangeWaiter& waiter) {
  const std::string output = tls_->TakeOutput();
  return output.empty() ? Failure{} : SendRaw(waiter, output);
}

Failure Connection::ReceiveTlsInput(ExchangeWaiter& waiter) {
  char buffer[kPieceBytes];
  std::size_t count = 0;
  if (Failure failure = ReceiveRaw(waiter, buffer, sizeof(buffer), &count)) return failure;
  tls_->GiveInput(std::string_view(buffer, count));
  return {};
}

Failure Connection::SendRaw(ExchangeWaiter& waiter, std::string_view data) {
  while (!data.empty()) {
    if (Failure failure = waiter.Check()) return failure;
    const ssize_t sent = send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      const auto count = static_cast<std::size_t>(sent);
      bytes_written_count_ += count;
      if (auto* activity = clock_.connection_activity()) {
        activity->Sent(ConnectionActivity::Side::kClient, key_, count);
      }
      data.remove_prefix(count);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return FromErrno(errno);
    if (Failure failure = waiter.Wait(fd_, POLLOUT)) return failure;
  }
  return {};
}

Failure Connection::ReceiveRaw(ExchangeWaiter& waiter, char* buffer, std::size_t size, std::size_t* count) {
  while (true) {
    if (Failure failure = waiter.Check()) return failure;
    const ssize_t received = recv(fd_, buffer, size, 0);
    if (received > 0) {
      *count = static_cast<std::size_t>(received);
      waiter.NoteByte();
      if (auto* activity = clock_.connection_activity()) {
        activity->Received(ConnectionActivity::Side::kClient, key_, *count);
      }
      return {};
    }
    if (received == 0) return {Trouble::kClosed, "the server closed the connection"};
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return FromErrno(errno);
    if (Failure failure = waiter.Wait(fd_, POLLIN)) return failure;
  }
}

}  // namespace opensandbox::internal

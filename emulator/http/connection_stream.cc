#include "emulator/http/connection_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace opensandbox::emulator {
namespace {

constexpr std::size_t kReceiveBytes = 8 << 10;
// What a client may send ahead while its request is being answered. Beyond it, the kernel's buffers hold the rest back.
constexpr std::size_t kReadAheadBytesMax = 64 << 10;
// A buffer that one large exchange made grow is given back after it.
constexpr std::size_t kBufferBytesKept = 64 << 10;
constexpr Duration kLinger = std::chrono::seconds(2);
constexpr std::size_t kLingerBytesMax = 64 << 20;
// How long a reset waits for a client that does not read what was sent before.
constexpr Duration kResetDrain = std::chrono::seconds(1);

struct Endpoint {
  std::string text;
  std::uint16_t port = 0;
};

Endpoint Describe(const sockaddr_storage& address) {
  char host[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, host, sizeof(host));
    const std::uint16_t port = ntohs(v4.sin_port);
    return {std::string(host) + ":" + std::to_string(port), port};
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
    const std::uint16_t port = ntohs(v6.sin6_port);
    return {std::string("[").append(host) + "]:" + std::to_string(port), port};
  }
  return {};
}

}  // namespace

ConnectionAddresses AddressesOf(int fd) {
  ConnectionAddresses addresses;
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) == 0) {
    const Endpoint peer = Describe(storage);
    addresses.peer = peer.text;
    addresses.key.client_port = peer.port;
  }
  storage = {};
  size = sizeof(storage);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) == 0) {
    const Endpoint local = Describe(storage);
    addresses.local = local.text;
    addresses.key.server_port = local.port;
  }
  return addresses;
}

void ConnectionControl::EndNow() {
  std::lock_guard lock(mutex_);
  end_now_ = true;
  // Makes the descriptor readable, which ends every wait of the connection's thread, on whatever clock.
  if (fd_ >= 0) shutdown(fd_, SHUT_RD);
}

void ConnectionControl::Forget() {
  std::lock_guard lock(mutex_);
  fd_ = -1;
}

ConnectionStream::ConnectionStream(int fd, std::shared_ptr<ConnectionControl> control, std::shared_ptr<Clock> clock)
    : fd_(fd), control_(std::move(control)), addresses_(AddressesOf(fd)), clock_(std::move(clock)) {
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  clock_->Join();
  Watch(clock_);
}

ConnectionStream::~ConnectionStream() {
  CloseFin();
  clock_->Leave();
}

void ConnectionStream::Watch(std::shared_ptr<Clock> clock) {
  ConnectionActivity* activity = clock->connection_activity();
  if (activity == nullptr) return;
  for (const Watcher& watcher : watchers_) {
    if (watcher.activity == activity) return;
  }
  activity->Opened(ConnectionActivity::Side::kServer, addresses_.key);
  if (sent_bytes_ > 0) activity->Sent(ConnectionActivity::Side::kServer, addresses_.key, sent_bytes_);
  if (received_bytes_ > 0) activity->Received(ConnectionActivity::Side::kServer, addresses_.key, received_bytes_);
  watchers_.push_back({std::move(clock), activity});
}

void ConnectionStream::UseClock(std::shared_ptr<Clock> clock) {
  if (clock == nullptr || clock == clock_) return;
  clock->Join();
  Watch(clock);
  waker_.reset();
  std::swap(clock_, clock);
  clock->Leave();
}

std::shared_ptr<Waker> ConnectionStream::waker() {
  if (waker_ == nullptr) waker_ = clock_->NewWaker();
  return waker_;
}

ssize_t ConnectionStream::RawReceive(char* data, std::size_t size) {
  ssize_t n = 0;
  do {
    n = recv(fd_, data, size, 0);
  } while (n < 0 && errno == EINTR);
  return n;
}

ssize_t ConnectionStream::RawSend(const char* data, std::size_t size) {
  ssize_t n = 0;
  do {
    n = send(fd_, data, size, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return n;
}

void ConnectionStream::Consume(std::size_t bytes) {
  in_begin_ += bytes;
  if (in_begin_ < in_.size()) return;
  in_begin_ = 0;
  in_.clear();
  if (in_.capacity() > kBufferBytesKept) in_.shrink_to_fit();
}

IoResult ConnectionStream::ReceiveIntoBuffer() {
  if (fd_ < 0 || end_of_input_) return ClosedOrStopped();
  char bytes[kReceiveBytes];
  const ssize_t n = RawReceive(bytes, sizeof(bytes));
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return IoResult::kOk;
  if (n <= 0) {
    end_of_input_ = true;
    return ClosedOrStopped();
  }
  received_bytes_ += static_cast<std::uint64_t>(n);
  if (!drop_input_) {
    if (in_begin_ > 0) {
      in_.erase(0, in_begin_);
      in_begin_ = 0;
    }
    in_.append(bytes, static_cast<std::size_t>(n));
  }
  for (const Watcher& watcher : watchers_) {
    watcher.activity->Received(ConnectionActivity::Side::kServer, addresses_.key, static_cast<std::uint64_t>(n));
  }
  return IoResult::kOk;
}

IoResult ConnectionStream::ReadMore(std::optional<TimePoint> deadline, const char* label) {
  const std::size_t before = buffered().size();
  while (true) {
    if (control_->end_now()) return IoResult::kStopped;
    if (fd_ < 0 || end_of_input_) return IoResult::kClosed;
    const WaitOutcome outcome = clock_->Wait({.fd = fd_, .events = POLLIN, .deadline = deadline, .label = label});
    if (outcome == WaitOutcome::kDeadline) return IoResult::kDeadline;
    const IoResult result = ReceiveIntoBuffer();
    if (result != IoResult::kOk) return result;
    if (buffered().size() > before) return IoResult::kOk;
  }
}

bool ConnectionStream::HungUp() const {
  if (end_of_input_) return true;
  pollfd entry{fd_, POLLRDHUP, 0};
  return poll(&entry, 1, 0) > 0;
}

void ConnectionStream::Queue(std::string_view bytes, std::uint64_t* counter) {
  if (bytes.empty()) return;
  out_.append(bytes);
  if (!segments_.empty() && segments_.back().counter == counter) {
    segments_.back().bytes += bytes.size();
  } else {
    segments_.push_back({bytes.size(), counter});
  }
}

void ConnectionStream::CountSent(std::size_t bytes) {
  sent_bytes_ += bytes;
  for (const Watcher& watcher : watchers_) {
    watcher.activity->Sent(ConnectionActivity::Side::kServer, addresses_.key, bytes);
  }
  std::size_t done = 0;
  for (Segment& segment : segments_) {
    const std::size_t part = std::min(segment.bytes, bytes);
    if (segment.counter != nullptr) *segment.counter += part;
    segment.bytes -= part;
    bytes -= part;
    if (segment.bytes > 0) break;
    ++done;
  }
  segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(done));
}

IoResult ConnectionStream::Flush() {
  std::size_t sent = 0;
  IoResult result = fd_ < 0 ? IoResult::kClosed : IoResult::kOk;
  while (result == IoResult::kOk && sent < out_.size()) {
    const ssize_t n = RawSend(out_.data() + sent, out_.size() - sent);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
      CountSent(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
      result = ClosedOrStopped();
      break;
    }
    if (control_->end_now()) {
      result = IoResult::kStopped;
      break;
    }
    // The client does not read. A half-close counts as its end, as in the servers that are imitated. POLLIN only while
    // there is room: readable bytes that stay where they are would make every wait return at once.
    const bool room = buffered().size() < kReadAheadBytesMax && !end_of_input_;
    const short events = static_cast<short>(POLLOUT | POLLRDHUP | (room ? POLLIN : 0));
    clock_->Wait({.fd = fd_, .events = events, .label = "client reads"});
    if (room || HungUp()) result = ReceiveIntoBuffer();
  }
  out_.clear();
  segments_.clear();
  if (out_.capacity() > 2 * kBufferBytesKept) out_.shrink_to_fit();
  return result;
}

IoResult ConnectionStream::Wait(std::optional<TimePoint> until, bool use_waker, const char* label) {
  Waker* const ender = use_waker ? waker().get() : nullptr;
  while (true) {
    if (control_->end_now()) return IoResult::kStopped;
    if (fd_ < 0 || end_of_input_) return IoResult::kClosed;
    const bool room = drop_input_ || buffered().size() < kReadAheadBytesMax;
    const short events = static_cast<short>(POLLRDHUP | (room ? POLLIN : 0));
    switch (clock_->Wait({.fd = fd_, .events = events, .deadline = until, .waker = ender, .label = label})) {
      case WaitOutcome::kDeadline:
        return IoResult::kDeadline;
      case WaitOutcome::kWoken: {
        // A client that closed before it caused the wake goes first, whichever this thread is told of.
        pollfd entry{fd_, events, 0};
        if (poll(&entry, 1, 0) > 0) break;
        if (ender != nullptr) ender->Reset();
        return control_->end_now() ? IoResult::kStopped : IoResult::kWoken;
      }
      case WaitOutcome::kReady:
        break;
    }
    if (!room) {  // can only be the end
      end_of_input_ = true;
      return ClosedOrStopped();
    }
    const IoResult result = ReceiveIntoBuffer();
    if (result != IoResult::kOk) return result;
  }
}

IoResult ConnectionStream::WaitClosed(const char* label) {
  drop_input_ = true;
  return Wait(std::nullopt, false, label);
}

void ConnectionStream::ReportClosed() {
  for (const Watcher& watcher : watchers_) {
    watcher.activity->Closed(ConnectionActivity::Side::kServer, addresses_.key);
  }
  watchers_.clear();
}

void ConnectionStream::Release() {
  control_->Forget();
  close(fd_);
  fd_ = -1;
}

void ConnectionStream::CloseFin(bool linger) {
  if (fd_ < 0) return;
  ReportClosed();
  shutdown(fd_, SHUT_WR);
  // Bytes left unread would turn the close into a reset.
  drop_input_ = true;
  const TimePoint deadline = clock_->Now() + kLinger;
  const std::uint64_t bytes_max = received_bytes_ + kLingerBytesMax;
  while (received_bytes_ < bytes_max) {
    const std::uint64_t before = received_bytes_;
    if (ReceiveIntoBuffer() != IoResult::kOk) break;
    if (received_bytes_ > before) continue;
    if (!linger || control_->end_now()) break;
    if (clock_->Wait({.fd = fd_, .events = POLLIN, .deadline = deadline, .label = "linger"}) ==
        WaitOutcome::kDeadline) {
      break;
    }
  }
  Release();
}

void ConnectionStream::CloseRst() {
  if (fd_ < 0) return;
  // A reset discards what the kernel has not yet sent. With this low-water mark the socket is writable when that is
  // nothing.
  const int lowat = 1;
  if (setsockopt(fd_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat, sizeof(lowat)) == 0) {
    const TimePoint deadline = clock_->Now() + kResetDrain;
    clock_->Wait({.fd = fd_, .events = POLLOUT, .deadline = deadline, .label = "reset drains"});
  }
  ReportClosed();
  const linger reset = {.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  Release();
}

}  // namespace opensandbox::emulator

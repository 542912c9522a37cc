// A client that sees bytes: what came, in which pieces, and whether FIN, RST or silence followed.
#ifndef OPENSANDBOX_TESTS_UNIT_HTTP_RAW_CLIENT_H_
#define OPENSANDBOX_TESTS_UNIT_HTTP_RAW_CLIENT_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opensandbox/base/clock.h"

namespace opensandbox::emulator {

enum class StreamEnd {
  kFin,
  kRst,
  kSilence,  // nothing more came for the time waited
};

inline std::ostream& operator<<(std::ostream& out, StreamEnd end) {
  constexpr const char* kNames[] = {"FIN", "RST", "silence"};
  return out << kNames[static_cast<int>(end)];
}

struct Received {
  std::string bytes;
  StreamEnd end = StreamEnd::kSilence;
  TimePoint at{};  // of the end
};

// Whether somebody listens on a loopback port. Looks without a connection, which a jumping clock would have to count.
inline bool IsListening(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool taken = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0;
  close(fd);
  return taken;
}

// Reports to the clock's ConnectionActivity as a client in this process must.
class RawClient {
 public:
  RawClient(Clock& clock, int port, int receive_buffer_bytes = 0)
      : clock_(clock), activity_(clock.connection_activity()), fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer_bytes > 0) {
      setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof(receive_buffer_bytes));
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0) << errno;
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    socklen_t size = sizeof(address);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    key_ = {ntohs(address.sin_port), static_cast<std::uint16_t>(port)};
    if (activity_ != nullptr) activity_->Opened(ConnectionActivity::Side::kClient, key_);
  }
  ~RawClient() { Close(); }
  RawClient(RawClient&& other) noexcept
      : clock_(other.clock_),
        activity_(other.activity_),
        fd_(std::exchange(other.fd_, -1)),
        key_(other.key_),
        unread_(std::move(other.unread_)) {}
  RawClient& operator=(RawClient&&) = delete;

  std::uint16_t port() const { return key_.client_port; }

  // False: the server has closed.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
      if (activity_ != nullptr) {
        activity_->Sent(ConnectionActivity::Side::kClient, key_, static_cast<std::uint64_t>(n));
      }
    }
    return true;
  }

  // All that comes until the connection ends or `silence` has passed on the clock without a byte.
  Received ReadToEnd(Duration silence = std::chrono::hours(1)) {
    Received received;
    received.bytes = std::exchange(unread_, {});
    while (true) {
      std::string piece;
      if (!ReadPiece(&piece, silence, &received.end)) break;
      received.bytes += piece;
    }
    received.at = clock_.Now();
    return received;
  }

  // Up to and including `marker`; what came behind it stays for the next read. Fails the test if the marker never came.
  std::string ReadUntil(std::string_view marker) {
    StreamEnd end = StreamEnd::kSilence;
    std::size_t found = 0;
    while ((found = unread_.find(marker)) == std::string::npos) {
      std::string piece;
      if (!ReadPiece(&piece, std::chrono::hours(1), &end)) {
        ADD_FAILURE() << "no \"" << marker << "\" before " << end << "; got: " << unread_.substr(0, 500);
        return std::exchange(unread_, {});
      }
      unread_ += piece;
    }
    std::string text = unread_.substr(0, found + marker.size());
    unread_.erase(0, text.size());
    return text;
  }

  std::string ReadBytes(std::size_t count) {
    StreamEnd end = StreamEnd::kSilence;
    while (unread_.size() < count) {
      std::string piece;
      if (!ReadPiece(&piece, std::chrono::hours(1), &end)) {
        ADD_FAILURE() << "only " << unread_.size() << " of " << count << " bytes before " << end;
        break;
      }
      unread_ += piece;
    }
    std::string text = unread_.substr(0, count);
    unread_.erase(0, text.size());
    return text;
  }

  // What one recv(2) gives. False: the end.
  bool ReadPiece(std::string* piece, Duration silence, StreamEnd* end) {
    if (clock_.Wait({.fd = fd_, .events = POLLIN, .deadline = clock_.Now() + silence, .label = "raw client"}) ==
        WaitOutcome::kDeadline) {
      *end = StreamEnd::kSilence;
      return false;
    }
    char buffer[64 << 10];
    const ssize_t n = recv(fd_, buffer, sizeof(buffer), 0);
    if (n <= 0) {
      *end = n == 0 ? StreamEnd::kFin : StreamEnd::kRst;
      return false;
    }
    if (activity_ != nullptr) {
      activity_->Received(ConnectionActivity::Side::kClient, key_, static_cast<std::uint64_t>(n));
    }
    piece->assign(buffer, static_cast<std::size_t>(n));
    return true;
  }

  void ShutdownWrite() { shutdown(fd_, SHUT_WR); }
  void Close() {
    if (fd_ < 0) return;
    if (activity_ != nullptr) activity_->Closed(ConnectionActivity::Side::kClient, key_);
    close(std::exchange(fd_, -1));
  }
  void CloseRst() {
    const linger reset = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    Close();
  }
  int fd() const { return fd_; }

 private:
  Clock& clock_;
  ConnectionActivity* const activity_;
  int fd_;
  ConnectionActivity::Key key_;
  std::string unread_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_UNIT_HTTP_RAW_CLIENT_H_

// A TCP server that does exactly what a test tells it, byte by byte.
#ifndef OPENSANDBOX_TESTS_SUPPORT_RAW_SERVER_H_
#define OPENSANDBOX_TESTS_SUPPORT_RAW_SERVER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <latch>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "opensandbox/base/clock.h"

namespace opensandbox::testing {

// Listens on a free port of the loopback interface. Each accepted connection gets a thread that runs the script and
// then closes the connection. Everything waits on the given clock and reports to it, so a test on a jumping clock takes
// no real time. The destructor ends all scripts that wait.
class RawServer {
 public:
  // The server's end of one connection. Used by the thread of its script.
  class Peer {
   public:
    // How many connections came before.
    int index() const { return index_; }
    Clock& clock() { return server_.clock_; }

    // One request with the body that its Content-Length announces, as it came; nullopt if the client closed before.
    std::optional<std::string> ReadRequest() {
      std::size_t size = std::string::npos;
      while (true) {
        const std::size_t end = buffer_.find("\r\n\r\n");
        if (end != std::string::npos) size = end + 4 + ContentLength(std::string_view(buffer_).substr(0, end));
        if (buffer_.size() >= size) break;
        const std::string more = Receive();
        if (more.empty()) return std::nullopt;
        buffer_ += more;
      }
      std::string request = buffer_.substr(0, size);
      buffer_.erase(0, size);
      std::lock_guard lock(server_.mutex_);
      server_.requests_.push_back(request);
      return request;
    }

    // What there is, at least one byte; "" once the client has closed or reset, or the server ends.
    std::string Receive() {
      std::string bytes(64 << 10, '\0');
      while (fd_ >= 0) {
        const ssize_t count = recv(fd_, bytes.data(), bytes.size(), 0);
        if (count > 0) {
          Report([&](ConnectionActivity& activity) {
            activity.Received(ConnectionActivity::Side::kServer, key_, static_cast<std::uint64_t>(count));
          });
          bytes.resize(static_cast<std::size_t>(count));
          return bytes;
        }
        if (count < 0 && errno == EINTR) continue;
        if (count == 0 || errno != EAGAIN) break;
        if (!Wait(POLLIN)) break;
      }
      return "";
    }

    // All of it; false if the client has closed or the server ends.
    bool Send(std::string_view bytes) {
      while (!bytes.empty()) {
        if (fd_ < 0) return false;
        const ssize_t count = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count > 0) {
          Report([&](ConnectionActivity& activity) {
            activity.Sent(ConnectionActivity::Side::kServer, key_, static_cast<std::uint64_t>(count));
          });
          bytes.remove_prefix(static_cast<std::size_t>(count));
          continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN || !Wait(POLLOUT)) return false;
      }
      return true;
    }

    // Lets time go by; false if the client closes meanwhile or the server ends. (A jumping clock does not move on while
    // a close is unseen, so a script must not just sleep on the clock where the client may close.)
    bool SleepFor(Duration duration) {
      return fd_ >= 0 && clock().Wait({.fd = fd_,
                                       .events = POLLRDHUP,
                                       .deadline = clock().Now() + duration,
                                       .waker = waker_.get(),
                                       .label = "raw server sleep"}) == WaitOutcome::kDeadline;
    }

    // Returns once the client has closed or reset, or the server ends. What comes meanwhile is dropped.
    void WaitForClose() {
      while (!Receive().empty()) {
      }
    }

    // An orderly end (FIN).
    void Close() {
      if (fd_ < 0) return;
      Report([&](ConnectionActivity& activity) { activity.Closed(ConnectionActivity::Side::kServer, key_); });
      close(std::exchange(fd_, -1));
    }

    // RST.
    void Reset() {
      if (fd_ < 0) return;
      const linger at_once = {1, 0};
      setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
      Close();
    }

   private:
    friend class RawServer;

    Peer(RawServer& server, int fd, int index, ConnectionActivity::Key key)
        : server_(server), fd_(fd), index_(index), key_(key), waker_(server.clock_.NewWaker()) {}

    static std::size_t ContentLength(std::string_view head) {
      constexpr std::string_view kName = "\r\nContent-Length: ";
      const std::size_t at = head.find(kName);
      if (at == std::string_view::npos) return 0;
      return std::strtoul(std::string(head.substr(at + kName.size())).c_str(), nullptr, 10);
    }
    bool Wait(short events) {
      return clock().Wait({.fd = fd_, .events = events, .waker = waker_.get(), .label = "raw server"}) ==
             WaitOutcome::kReady;
    }
    template <typename Use>
    void Report(const Use& use) {
      if (auto* activity = clock().connection_activity()) use(*activity);
    }

    RawServer& server_;
    int fd_;
    const int index_;
    const ConnectionActivity::Key key_;
    const std::shared_ptr<Waker> waker_;
    std::string buffer_;
  };

  using Script = std::function<void(Peer& peer)>;

  struct Options {
    Clock* clock = nullptr;  // null: real time
    bool ipv6 = false;
    int backlog = 128;
    bool accept = true;  // false: connections stay in the backlog
  };

  explicit RawServer(Script script) : RawServer(std::move(script), Options{}) {}
  RawServer(Script script, Options options)
      : script_(std::move(script)),
        clock_(options.clock != nullptr ? *options.clock : SystemClock::Instance()),
        ipv6_(options.ipv6),
        waker_(clock_.NewWaker()),
        listen_fd_(socket(ipv6_ ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_storage address = {};
    socklen_t size = 0;
    if (ipv6_) {
      auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
      v6.sin6_family = AF_INET6;
      v6.sin6_addr = in6addr_loopback;
      size = sizeof(v6);
    } else {
      auto& v4 = reinterpret_cast<sockaddr_in&>(address);
      v4.sin_family = AF_INET;
      v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      size = sizeof(v4);
    }
    if (bind(listen_fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listen_fd_, options.backlog) != 0 ||
        getsockname(listen_fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      std::abort();  // no test can go on
    }
    port_ = PortOf(address);
    if (!options.accept) return;
    std::latch joined(1);
    accepting_ = std::thread([&] {
      Participant participant(clock_);
      joined.count_down();
      Accept();
    });
    joined.wait();
  }

  ~RawServer() {
    waker_->Wake();
    if (accepting_.joinable()) accepting_.join();
    close(listen_fd_);
    for (Served& served : served_) served.peer.waker_->Wake();
    for (Served& served : served_) served.thread.join();
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::uint16_t port() const { return port_; }
  // "http://127.0.0.1:4711" + path.
  std::string url(std::string_view path = "/") const {
    return (ipv6_ ? "http://[::1]:" : "http://127.0.0.1:") + std::to_string(port_) + std::string(path);
  }
  // All requests read so far, in the order in which they were complete.
  std::vector<std::string> requests() const {
    std::lock_guard lock(mutex_);
    return requests_;
  }
  int connections_count() const { return connections_count_; }

 private:
  struct Served {
    Peer peer;
    std::thread thread;
  };

  static std::uint16_t PortOf(const sockaddr_storage& address) {
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }

  void Accept() {
    while (clock_.Wait({.fd = listen_fd_, .events = POLLIN, .waker = waker_.get(), .label = "raw server accept"}) ==
           WaitOutcome::kReady) {
      sockaddr_storage address = {};
      socklen_t size = sizeof(address);
      const int fd = accept4(listen_fd_, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) continue;
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      const ConnectionActivity::Key key = {PortOf(address), port_};
      if (auto* activity = clock_.connection_activity()) activity->Opened(ConnectionActivity::Side::kServer, key);
      // Only this thread changes the list, and the destructor reads it after this thread is done.
      Served& served = served_.emplace_back(Served{Peer(*this, fd, connections_count_++, key), {}});
      // The new thread counts before this one rests again, or a jumping clock might go on between the two.
      std::latch joined(1);
      served.thread = std::thread([this, &served, &joined] {
        Participant participant(clock_);
        joined.count_down();
        script_(served.peer);
        served.peer.Close();
      });
      joined.wait();
    }
  }

  const Script script_;
  Clock& clock_;
  const bool ipv6_;
  const std::shared_ptr<Waker> waker_;
  const int listen_fd_;
  std::uint16_t port_ = 0;
  std::thread accepting_;
  std::atomic<int> connections_count_ = 0;
  std::list<Served> served_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
};

}  // namespace opensandbox::testing

#endif  // OPENSANDBOX_TESTS_SUPPORT_RAW_SERVER_H_

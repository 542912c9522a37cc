#include "load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace opensandbox::bench {
namespace {

int ConnectTo(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    close(fd);
    return -1;
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

// The length of the first whole reply in `bytes`.
std::optional<std::size_t> ReplySize(std::string_view bytes) {
  const std::size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string_view::npos) return std::nullopt;
  const std::size_t body = head_end + 4;
  const std::string_view head = bytes.substr(0, body);
  if (head.find("chunked") != std::string_view::npos) {
    const std::size_t end = bytes.find("\r\n0\r\n\r\n", head_end);
    if (end == std::string_view::npos) return std::nullopt;
    return end + 7;
  }
  std::size_t size = 0;
  for (const char* name : {"ontent-length: ", "ontent-Length: "}) {
    const std::size_t found = head.find(name);
    if (found != std::string_view::npos) size = std::strtoull(head.data() + found + std::strlen(name), nullptr, 10);
  }
  if (bytes.size() < body + size) return std::nullopt;
  return body + size;
}

std::string WithId(const std::string& request, const std::string& id) {
  const std::size_t found = request.find("{id}");
  return found == std::string::npos ? request : request.substr(0, found) + id + request.substr(found + 4);
}

struct Connection {
  int fd = -1;
  std::size_t next = 0;
  std::string id;
  std::string in;
};

class Loop {
 public:
  explicit Loop(LoadJob job) : job_(std::move(job)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}
  ~Loop() { close(epoll_); }

  LoadResult Run() {
    connections_.resize(static_cast<std::size_t>(job_.connections));
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      connections_[i].fd = ConnectTo(job_.port);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      epoll_ctl(epoll_, EPOLL_CTL_ADD, connections_[i].fd, &event);
    }
    const auto start = std::chrono::steady_clock::now();
    for (Connection& connection : connections_) {
      if (StartScript(connection)) ++open_;
    }
    epoll_event events[64];
    while (open_ > 0) {
      const int count = epoll_wait(epoll_, events, 64, -1);
      for (int i = 0; i < count; ++i) {
        Connection& connection = connections_[events[i].data.u64];
        if (!Handle(connection)) {
          close(std::exchange(connection.fd, -1));
          --open_;
        }
      }
    }
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const Connection& connection : connections_) {
      if (connection.fd >= 0) close(connection.fd);
    }
    return result_;
  }

 private:
  bool StartScript(Connection& connection) {
    if (started_ >= job_.rounds) return false;
    ++started_;
    connection.next = 0;
    connection.id.clear();
    return SendNext(connection);
  }

  bool SendNext(Connection& connection) {
    const std::string request = WithId(job_.script[connection.next], connection.id);
    if (send(connection.fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
      return true;
    }
    ++result_.failures;
    return false;
  }

  // False: this connection has nothing left to do.
  bool Handle(Connection& connection) {
    char buffer[64 << 10];
    const ssize_t n = recv(connection.fd, buffer, sizeof(buffer), 0);
    if (n <= 0) {
      ++result_.failures;
      return false;
    }
    connection.in.append(buffer, static_cast<std::size_t>(n));
    const std::optional<std::size_t> size = ReplySize(connection.in);
    if (!size) return true;
    ++result_.replies;
    if (connection.in.compare(0, 10, "HTTP/1.1 2") != 0) ++result_.failures;
    if (connection.id.empty() && job_.script.size() > 1) {
      const std::size_t found = connection.in.find("\"id\":\"");
      if (found != std::string::npos) {
        connection.id = connection.in.substr(found + 6, connection.in.find('"', found + 6) - found - 6);
      }
    }
    connection.in.erase(0, *size);
    if (++connection.next < job_.script.size()) return SendNext(connection);
    return StartScript(connection);
  }

  const LoadJob job_;
  const int epoll_;
  std::vector<Connection> connections_;
  int started_ = 0;
  int open_ = 0;
  LoadResult result_;
};

// The pipe's format: fixed numbers, then the script's strings with their lengths.
bool WriteAll(int fd, const void* data, std::size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = write(fd, bytes, size);
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool ReadAll(int fd, void* data, std::size_t size) {
  char* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = read(fd, bytes, size);
    if (n <= 0) return false;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

void ServeJobs(int in, int out) {
  while (true) {
    int numbers[4];
    if (!ReadAll(in, numbers, sizeof(numbers))) return;
    LoadJob job{.port = numbers[0], .connections = numbers[1], .rounds = numbers[2]};
    for (int i = 0; i < numbers[3]; ++i) {
      std::size_t size = 0;
      if (!ReadAll(in, &size, sizeof(size))) return;
      std::string request(size, '\0');
      if (!ReadAll(in, request.data(), size)) return;
      job.script.push_back(std::move(request));
    }
    const LoadResult result = Loop(std::move(job)).Run();
    if (!WriteAll(out, &result, sizeof(result))) return;
  }
}

}  // namespace

LoadProcess::LoadProcess() {
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0) std::abort();
  child_ = fork();
  if (child_ == 0) {
    close(down[1]);
    close(up[0]);
    ServeJobs(down[0], up[1]);
    _exit(0);
  }
  close(down[0]);
  close(up[1]);
  to_child_ = down[1];
  from_child_ = up[0];
}

LoadProcess::~LoadProcess() {
  close(to_child_);
  close(from_child_);
  waitpid(child_, nullptr, 0);
}

LoadResult LoadProcess::Run(const LoadJob& job) {
  const int numbers[4] = {job.port, job.connections, job.rounds, static_cast<int>(job.script.size())};
  WriteAll(to_child_, numbers, sizeof(numbers));
  for (const std::string& request : job.script) {
    const std::size_t size = request.size();
    WriteAll(to_child_, &size, sizeof(size));
    WriteAll(to_child_, request.data(), size);
  }
  LoadResult result;
  ReadAll(from_child_, &result, sizeof(result));
  return result;
}

std::string FetchOnce(int port, const std::string& request) {
  const int fd = ConnectTo(port);
  if (fd < 0) return {};
  std::string reply;
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    char buffer[16 << 10];
    while (!ReplySize(reply)) {
      const ssize_t n = recv(fd, buffer, sizeof(buffer), 0);
      if (n <= 0) break;
      reply.append(buffer, static_cast<std::size_t>(n));
    }
  }
  close(fd);
  return reply;
}

}  // namespace opensandbox::bench

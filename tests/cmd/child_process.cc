#include "tests/cmd/child_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace opensandbox::emulator {
namespace {

constexpr int kPatienceMilliseconds = 60'000;

// -1 if nobody listens there.
int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{kPatienceMilliseconds / 1000, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, std::string program) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::abort();
  std::vector<std::string> texts = {std::move(program)};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

ChildProcess::~ChildProcess() {
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool ChildProcess::Pump() {
  pollfd entries[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  if (poll(entries, 2, kPatienceMilliseconds) <= 0) return false;
  const auto take = [](const pollfd& entry, int* fd, std::string* text) {
    if (entry.fd < 0 || entry.revents == 0) return;
    char buffer[4096];
    const ssize_t got = read(entry.fd, buffer, sizeof(buffer));
    if (got > 0) {
      text->append(buffer, static_cast<std::size_t>(got));
    } else {
      close(*fd);
      *fd = -1;
    }
  };
  take(entries[0], &out_, &out_text_);
  take(entries[1], &err_, &err_text_);
  return true;
}

std::string ChildProcess::ReadLine() {
  for (;;) {
    const std::size_t end = out_text_.find('\n', read_);
    if (end != std::string::npos) {
      const std::string line = out_text_.substr(read_, end - read_);
      read_ = end + 1;
      return line;
    }
    if (out_ < 0 || !Pump()) return "";
  }
}

void ChildProcess::Signal(int signal_number) const { kill(pid_, signal_number); }

ProgramResult ChildProcess::Wait() {
  while (Pump()) {
  }
  if (out_ >= 0 || err_ >= 0) kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out_text_, err_text_};
}

ProgramResult RunProgram(const std::vector<std::string>& arguments, std::string program) {
  return ChildProcess(arguments, std::move(program)).Wait();
}

TemporaryFolder::TemporaryFolder() {
  std::string name = testing::TempDir() + "opensandbox-cmd-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::Write(const std::string& name, const std::string& text) const {
  const std::filesystem::path path = std::filesystem::path(path_) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

std::string ReadWholeFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string HttpExchange(int port, const std::string& request) {
  const int fd = Connect(port);
  std::string answer;
  if (fd < 0) return answer;
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(fd, buffer, sizeof(buffer), 0)) > 0;) {
      answer.append(buffer, static_cast<std::size_t>(got));
    }
  }
  close(fd);
  return answer;
}

IdleConnection::IdleConnection(int port) : fd_(Connect(port)), connected_(fd_ >= 0) {}

IdleConnection::~IdleConnection() {
  if (fd_ >= 0) close(fd_);
}

int PortOf(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(address.c_str() + colon + 1);
}

}  // namespace opensandbox::emulator

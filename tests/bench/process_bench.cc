// What the executable costs: time to ready, memory at rest, after many requests, with silent streams and while it sends
// 10 GiB. usage: bench_process EMULATOR SCENARIO [--requests N], SCENARIO's code "flood" printing 10 GiB.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "load.h"

extern char** environ;

namespace opensandbox::bench {
namespace {

using Seconds = std::chrono::duration<double>;

class EmulatorProcess {
 public:
  explicit EmulatorProcess(std::vector<std::string> arguments) {
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) std::abort();
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const auto start = std::chrono::steady_clock::now();
    const bool spawned = posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    std::string line;
    char c = 0;
    while (spawned && read(out[0], &c, 1) == 1 && c != '\n') line += c;
    ready_ms_ = Seconds(std::chrono::steady_clock::now() - start).count() * 1000;
    ready_cpu_ms_ = CpuMs();
    out_ = out[0];
    const std::size_t colon = line.find(':', line.find("\"address\":\"") + 11);
    port_ = colon == std::string::npos ? 0 : std::atoi(line.c_str() + colon + 1);
    if (port_ == 0) {
      std::fprintf(stderr, "%s did not become ready\n", arguments[0].c_str());
      std::exit(1);
    }
  }
  ~EmulatorProcess() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    close(out_);
  }
  EmulatorProcess(const EmulatorProcess&) = delete;
  EmulatorProcess& operator=(const EmulatorProcess&) = delete;

  int port() const { return port_; }
  double ready_ms() const { return ready_ms_; }
  // Of all its threads, up to the ready line: what the start costs however busy the machine is.
  double ready_cpu_ms() const { return ready_cpu_ms_; }
  // VmRSS, or VmHWM for the most it ever was.
  double MemoryMib(const std::string& field) const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind(field + ":", 0) == 0) return std::atof(line.c_str() + field.size() + 1) / 1024;
    }
    return 0;
  }

 private:
  double CpuMs() const {
    double nanoseconds = 0;
    std::error_code error;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task", error)) {
      double of_task = 0;
      std::ifstream(task.path() / "schedstat") >> of_task;
      nanoseconds += of_task;
    }
    return nanoseconds / 1e6;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int port_ = 0;
  double ready_ms_ = 0;
  double ready_cpu_ms_ = 0;
};

std::string Post(const std::string& target, const std::string& body) {
  return "POST " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string CreateSandbox(int port) {
  const std::string reply =
      FetchOnce(port, Post("/v1/sandboxes",
                           R"({"image":{"uri":"python:3.12"},"entrypoint":["tail","-f","/dev/null"],"timeout":3600,)"
                           R"("resourceLimits":{"cpu":"1","memory":"2Gi"}})"));
  const std::size_t found = reply.find("\"id\":\"");
  if (found == std::string::npos) {
    std::fprintf(stderr, "create was answered: %s\n", reply.c_str());
    std::exit(1);
  }
  return reply.substr(found + 6, reply.find('"', found + 6) - found - 6);
}

// Reads a whole reply without keeping it; its size in bytes.
std::uint64_t Drain(int port, const std::string& request) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::uint64_t total = 0;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    std::vector<char> buffer(1 << 20);
    std::string tail;
    while (tail != "0\r\n\r\n") {
      const ssize_t n = recv(fd, buffer.data(), buffer.size(), 0);
      if (n <= 0) break;
      total += static_cast<std::uint64_t>(n);
      tail.append(buffer.data() + std::max<ssize_t>(0, n - 5), static_cast<std::size_t>(std::min<ssize_t>(n, 5)));
      tail.erase(0, tail.size() - std::min<std::size_t>(tail.size(), 5));
    }
  }
  close(fd);
  return total;
}

bool Report(const char* what, double value, const char* unit, double limit) {
  const bool good = value < limit;
  std::printf("%-44s %10.1f %-4s bar < %.0f%s\n", what, value, unit, limit, good ? "" : "  MISSED");
  std::fflush(stdout);
  return good;
}

int Main(const std::string& program, const std::string& scenario, int requests) {
  LoadProcess load;
  bool good = true;
  {
    constexpr std::size_t kStarts = 15;
    std::vector<double> wall, cpu;
    for (std::size_t i = 0; i < kStarts; ++i) {
      const EmulatorProcess emulator({program, "serve", "--port", "0"});
      wall.push_back(emulator.ready_ms());
      cpu.push_back(emulator.ready_cpu_ms());
    }
    std::sort(wall.begin(), wall.end());
    std::sort(cpu.begin(), cpu.end());
    good = Report("start to ready, median of 15", wall[kStarts / 2], "ms", 20) && good;
    good = Report("start to ready, its CPU time", cpu[kStarts / 2], "ms", 20) && good;
  }
  {
    EmulatorProcess emulator({program, "serve", "--port", "0"});
    FetchOnce(emulator.port(), "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    good = Report("memory, idle", emulator.MemoryMib("VmRSS"), "MiB", 12) && good;
    const std::string get = "GET /v1/sandboxes/" + CreateSandbox(emulator.port()) + " HTTP/1.1\r\nHost: x\r\n\r\n";
    const LoadResult result = load.Run({emulator.port(), 50, requests, {get}});
    if (result.failures > 0) {
      std::printf("%llu requests failed\n", static_cast<unsigned long long>(result.failures));
      good = false;
    }
    const std::string title = "memory after " + std::to_string(requests) + " requests";
    good = Report(title.c_str(), emulator.MemoryMib("VmRSS"), "MiB", 64) && good;
  }
  {
    EmulatorProcess emulator({program, "serve", "--port", "0", "--scenario", scenario});
    const std::string id = CreateSandbox(emulator.port());
    const auto start = std::chrono::steady_clock::now();
    const std::uint64_t bytes = Drain(emulator.port(), Post("/sandbox/" + id + "/proxy/44772/code",
                                                            R"({"context":{"language":"python"},"code":"flood"})"));
    const double seconds = Seconds(std::chrono::steady_clock::now() - start).count();
    const double gib = static_cast<double>(bytes) / (1 << 30);
    std::printf("%-44s %10.2f GiB  in %.1f s\n", "streamed", gib, seconds);
    if (gib < 10) {
      std::printf("the stream ended early\n");
      good = false;
    }
    good = Report("memory while streaming, at most", emulator.MemoryMib("VmHWM"), "MiB", 32) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace opensandbox::bench

int main(int argc, char** argv) {
  int requests = 1000000;
  if (argc == 5 && std::strcmp(argv[3], "--requests") == 0) {
    requests = std::atoi(argv[4]);
  } else if (argc != 3) {
    requests = 0;
  }
  if (requests < 1) {
    std::fprintf(stderr, "usage: bench_process EMULATOR SCENARIO [--requests N]\n");
    return 2;
  }
  return opensandbox::bench::Main(argv[1], argv[2], requests);
}

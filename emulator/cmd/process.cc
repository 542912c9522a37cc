#include "emulator/cmd/process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace opensandbox::emulator {
namespace {

constexpr long kLookEveryNanoseconds = 50'000'000;

Error FileError(const std::string& path, int error_number) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.message = path + ": can't write: " + std::strerror(error_number);
  return error;
}

// The new file beside `path`; -1 with errno if it can't be made.
int OpenBeside(const std::string& path, std::string* temporary) {
  *temporary = path + ".tmp-" + std::to_string(getpid());
  return open(temporary->c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void IgnoreBrokenPipes() { std::signal(SIGPIPE, SIG_IGN); }

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool PrintData(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

void Talk(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

bool StdoutHasColour() {
  if (isatty(STDOUT_FILENO) == 0) return false;
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb";
}

Result<void> WriteFileAtomically(const std::string& path, const std::string& text) {
  std::string temporary;
  const int fd = OpenBeside(path, &temporary);
  if (fd < 0) return FileError(path, errno);
  int error_number = WriteAll(fd, text) ? 0 : errno;
  if (close(fd) != 0 && error_number == 0) error_number = errno;
  if (error_number == 0 && rename(temporary.c_str(), path.c_str()) != 0) error_number = errno;
  if (error_number == 0) return {};
  unlink(temporary.c_str());
  return FileError(path, error_number);
}

Result<void> CheckWritable(const std::string& path) {
  std::string temporary;
  const int fd = OpenBeside(path, &temporary);
  if (fd < 0) return FileError(path, errno);
  close(fd);
  unlink(temporary.c_str());
  // A folder of that name would only refuse the rename.
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return {};
  close(folder);
  return FileError(path, EISDIR);
}

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

int StopSignals::Wait(const std::function<bool()>& stop_too) {
  int signal_number = 0;
  while (signal_number <= 0 && !stop_too()) {
    const timespec look_every{0, kLookEveryNanoseconds};
    signal_number = sigtimedwait(&signals_, nullptr, &look_every);
  }
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  return signal_number > 0 ? signal_number : 0;
}

}  // namespace opensandbox::emulator

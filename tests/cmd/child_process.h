// The built program as a child process.
#ifndef OPENSANDBOX_TESTS_CMD_CHILD_PROCESS_H_
#define OPENSANDBOX_TESTS_CMD_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace opensandbox::emulator {

struct ProgramResult {
  int exit_code = -1;  // -1: killed by a signal, or by the test after 60 s
  std::string out, err;
};

// Runs a program to its end.
ProgramResult RunProgram(const std::vector<std::string>& arguments, std::string program = OPENSANDBOX_EMULATOR);

// A program that goes on in the background.
class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& arguments, std::string program = OPENSANDBOX_EMULATOR);
  ~ChildProcess();  // kills it if it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // The next line of its stdout, without the line feed; "" at the end or after 60 s.
  std::string ReadLine();
  void Signal(int signal_number) const;
  // Reads stdout and stderr to their ends and waits.
  ProgramResult Wait();

 private:
  // Waits for bytes of either pipe and takes them in; false when both are at their end or nothing came for 60 s.
  bool Pump();

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::string out_text_, err_text_;
  std::size_t read_ = 0;  // of out_text_, by ReadLine()
};

// A fresh folder, removed with its content at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  // Returns the file's path.
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

// "" if it can't be read.
std::string ReadWholeFile(const std::string& path);

// One request to 127.0.0.1; the whole answer as it came, or "" if there was no connection.
std::string HttpExchange(int port, const std::string& request);

// A connection to 127.0.0.1 that says nothing, open while it lives.
class IdleConnection {
 public:
  explicit IdleConnection(int port);
  ~IdleConnection();
  IdleConnection(const IdleConnection&) = delete;
  IdleConnection& operator=(const IdleConnection&) = delete;
  bool connected() const { return connected_; }

 private:
  int fd_ = -1;
  bool connected_ = false;
};

// The port behind the colon of "127.0.0.1:8080"; 0 if there is none.
int PortOf(const std::string& address);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_CMD_CHILD_PROCESS_H_

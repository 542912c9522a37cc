// Flags of one command: declared once, parsed, explained.
#ifndef OPENSANDBOX_EMULATOR_CMD_COMMAND_LINE_H_
#define OPENSANDBOX_EMULATOR_CMD_COMMAND_LINE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/cmd/exit_code.h"

namespace opensandbox::emulator {

struct Flag {
  std::string name;   // without the dashes
  std::string value;  // what stands for its value in the help; empty: a switch
  std::string help;
  bool repeated = false;
};

// Collects what is wrong with a command line; the first complaint is shown.
class CommandLine {
 public:
  // `command`: "serve". `arguments_name`: what positional arguments are called in the usage line, "PATH..."; empty:
  // none are taken. `text`: what the command does; `example`: one line.
  CommandLine(std::string command, std::string arguments_name, std::string text, std::string example,
              std::vector<Flag> flags);

  // kOk: go on. Otherwise everything was said and the process leaves with that code; --help gives kOk with
  // `help_shown()`.
  ExitCode Parse(const std::vector<std::string>& arguments);
  bool help_shown() const { return help_shown_; }

  bool Has(const std::string& flag) const { return values_.count(flag) > 0; }
  // The last value; nullopt if the flag was not given.
  std::optional<std::string> Value(const std::string& flag) const;
  std::vector<std::string> Values(const std::string& flag) const;
  const std::vector<std::string>& arguments() const { return arguments_; }

  // Numbers. A value that is none, or out of range, is a complaint.
  std::optional<std::uint64_t> Number(const std::string& flag, std::uint64_t min, std::uint64_t max);
  // Records a complaint: "--port: found \"x\", expected a number from 0 to 65535".
  void Complain(const std::string& text);
  void ComplainAbout(const std::string& flag, const std::string& found, const std::string& expected);
  // kOk, or after a complaint its line on stderr, naming --help, and kBadUsage.
  ExitCode Finish() const;

  std::string Help() const;

 private:
  const std::string command_, arguments_name_, text_, example_;
  const std::vector<Flag> flags_;
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> arguments_;
  std::string complaint_;
  bool help_shown_ = false;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CMD_COMMAND_LINE_H_

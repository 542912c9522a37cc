// The flags of `serve`, read and checked.
#ifndef OPENSANDBOX_EMULATOR_CMD_SERVE_OPTIONS_H_
#define OPENSANDBOX_EMULATOR_CMD_SERVE_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>

#include "emulator/cmd/command_line.h"
#include "opensandbox/base/clock.h"

namespace opensandbox::emulator {

struct ServeOptions {
  std::optional<std::string> scenario_path;
  std::string host = "127.0.0.1";
  int port = 8080;
  int control_port = 0;
  std::shared_ptr<Clock> clock;
  std::uint64_t seed = 0;  // 0: drawn
  bool strict = false;
  std::optional<std::string> api_key;
  std::optional<std::string> ready_file;
};

CommandLine MakeServeCommandLine();
// Complaints stay in `line`.
ServeOptions ReadServeOptions(CommandLine& line);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CMD_SERVE_OPTIONS_H_

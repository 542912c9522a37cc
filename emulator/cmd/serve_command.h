// `opensandbox-emulator serve`: answers clients until told to stop.
#ifndef OPENSANDBOX_EMULATOR_CMD_SERVE_COMMAND_H_
#define OPENSANDBOX_EMULATOR_CMD_SERVE_COMMAND_H_

#include <string>
#include <vector>

#include "emulator/cmd/exit_code.h"

namespace opensandbox::emulator {

ExitCode RunServeCommand(const std::vector<std::string>& arguments);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CMD_SERVE_COMMAND_H_

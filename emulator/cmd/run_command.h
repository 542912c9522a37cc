// `opensandbox-emulator run`: drives the client library through scenarios.
#ifndef OPENSANDBOX_EMULATOR_CMD_RUN_COMMAND_H_
#define OPENSANDBOX_EMULATOR_CMD_RUN_COMMAND_H_

#include <string>
#include <vector>

#include "emulator/cmd/exit_code.h"

namespace opensandbox::emulator {

ExitCode RunRunCommand(const std::vector<std::string>& arguments);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CMD_RUN_COMMAND_H_

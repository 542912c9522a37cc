// `opensandbox-emulator check`: looks for mistakes in scenario files.
#ifndef OPENSANDBOX_EMULATOR_CMD_CHECK_COMMAND_H_
#define OPENSANDBOX_EMULATOR_CMD_CHECK_COMMAND_H_

#include <string>
#include <vector>

#include "emulator/cmd/exit_code.h"

namespace opensandbox::emulator {

ExitCode RunCheckCommand(const std::vector<std::string>& arguments);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CMD_CHECK_COMMAND_H_

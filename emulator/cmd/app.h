// The command line program without its main().
#ifndef OPENSANDBOX_EMULATOR_CMD_APP_H_
#define OPENSANDBOX_EMULATOR_CMD_APP_H_

#include <functional>
#include <string>
#include <vector>

#include "emulator/cmd/exit_code.h"

namespace opensandbox::emulator {

// `arguments` without the program's name.
ExitCode RunApp(const std::vector<std::string>& arguments);

// Calls `body`; whatever it throws becomes one line on stderr and kInternal.
ExitCode RunGuarded(const std::function<ExitCode()>& body);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CMD_APP_H_

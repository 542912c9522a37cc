// What the process's exit code means. The same table stands in emulator/README.md.
#ifndef OPENSANDBOX_EMULATOR_CMD_EXIT_CODE_H_
#define OPENSANDBOX_EMULATOR_CMD_EXIT_CODE_H_

namespace opensandbox::emulator {

enum class ExitCode {
  kOk = 0,
  kVerdictFailed = 1,  // run: at least one scenario failed
  kBadUsage = 2,       // an unknown command or flag, a bad value, nothing to do
  kBadScenario = 3,    // a scenario file has mistakes
  kCannotListen = 4,   // the port is in use or not allowed
  kInputOutput = 5,    // a file or folder is missing or unreadable, or a report can't be written
  kInternal = 70,      // a bug in this program (EX_SOFTWARE of sysexits.h)
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CMD_EXIT_CODE_H_

// Finds and loads the scenario files that a command line names.
#ifndef OPENSANDBOX_EMULATOR_CMD_SCENARIO_FILES_H_
#define OPENSANDBOX_EMULATOR_CMD_SCENARIO_FILES_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "emulator/cmd/exit_code.h"
#include "emulator/scenario/loader.h"

namespace opensandbox::emulator {

struct ScenarioFiles {
  std::vector<std::shared_ptr<const Scenario>> scenarios;  // of the good files, in order of path
  std::size_t files_count = 0;
  std::vector<Problem> unreadable;  // paths that can't be read or hold nothing
  std::vector<Problem> mistakes;    // in files that could be read
  // kOk, kInputOutput (which wins), kBadScenario.
  ExitCode Code() const;
  // All of them, a line each.
  std::string ProblemsText() const;
};

ScenarioFiles LoadScenarioFiles(const std::vector<std::string>& paths);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CMD_SCENARIO_FILES_H_

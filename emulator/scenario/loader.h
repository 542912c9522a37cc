// Reads scenario files.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_LOADER_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_LOADER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/scenario/scenario.h"

namespace opensandbox::emulator {

// One mistake. Text() is "FILE:LINE: POINTER: found X, expected Y (did you mean Z?)".
struct Problem {
  std::string file;
  int line = 0;         // from 1; 0: the file as a whole
  std::string pointer;  // JSON pointer, "" for the root
  std::string message;
  std::string Text() const;
};

struct LoadedScenario {
  std::shared_ptr<const Scenario> scenario;  // null if there are problems; of a file with a matrix the first case
  // All cases of the file, one without a matrix; empty if there are problems.
  std::vector<std::shared_ptr<const Scenario>> cases;
  std::vector<Problem> problems;  // all of them, in order of line
};

// JSON with // and /* */ comments. Unknown and repeated fields are mistakes. `file` is for messages only.
LoadedScenario ParseScenario(std::string_view text, const std::string& file);
LoadedScenario LoadScenarioFile(const std::string& path);

// The *.scenario.json files at or below the given paths, sorted, each once. A path that does not exist, can't be read
// or holds no scenario is a problem.
struct FoundScenarios {
  std::vector<std::string> files;
  std::vector<Problem> problems;
};
FoundScenarios FindScenarioFiles(const std::vector<std::string>& paths);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_LOADER_H_

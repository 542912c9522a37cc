#include "emulator/cmd/scenario_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace opensandbox::emulator {

ExitCode ScenarioFiles::Code() const {
  if (!unreadable.empty()) return ExitCode::kInputOutput;
  return mistakes.empty() ? ExitCode::kOk : ExitCode::kBadScenario;
}

std::string ScenarioFiles::ProblemsText() const {
  std::string text;
  for (const Problem& problem : unreadable) text += problem.Text() + "\n";
  for (const Problem& problem : mistakes) text += problem.Text() + "\n";
  return text;
}

ScenarioFiles LoadScenarioFiles(const std::vector<std::string>& paths) {
  ScenarioFiles files;
  FoundScenarios found = FindScenarioFiles(paths);
  files.unreadable = std::move(found.problems);
  files.files_count = found.files.size();
  for (const std::string& file : found.files) {
    if (access(file.c_str(), R_OK) != 0) {
      Problem problem;
      problem.file = file;
      problem.message = std::string("can't read: ") + std::strerror(errno);
      files.unreadable.push_back(std::move(problem));
      continue;
    }
    LoadedScenario loaded = LoadScenarioFile(file);
    for (auto& scenario : loaded.cases) files.scenarios.push_back(std::move(scenario));
    for (Problem& problem : loaded.problems) files.mistakes.push_back(std::move(problem));
  }
  return files;
}

}  // namespace opensandbox::emulator

#include "emulator/cmd/check_command.h"

#include "emulator/cmd/command_line.h"
#include "emulator/cmd/process.h"
#include "emulator/cmd/scenario_files.h"

namespace opensandbox::emulator {

ExitCode RunCheckCommand(const std::vector<std::string>& arguments) {
  CommandLine line("check", "PATH...",
                   "Reads scenario files, or all *.scenario.json files below a folder, and prints every mistake as\n"
                   "FILE:LINE: POINTER: what was found and what was expected.",
                   "opensandbox-emulator check scenarios/", {});
  const ExitCode usage = line.Parse(arguments);
  if (usage != ExitCode::kOk || line.help_shown()) return usage;

  const ScenarioFiles files = LoadScenarioFiles(line.arguments());
  if (!PrintData(files.ProblemsText())) return ExitCode::kInputOutput;
  const std::size_t problems = files.unreadable.size() + files.mistakes.size();
  Talk(std::to_string(files.files_count) + " files, " + std::to_string(problems) + " problems\n");
  return files.Code();
}

}  // namespace opensandbox::emulator

#include "emulator/cmd/app.h"

#include <cstdio>
#include <exception>

#include "emulator/cmd/check_command.h"
#include "emulator/cmd/command_line.h"
#include "emulator/cmd/process.h"
#include "emulator/cmd/run_command.h"
#include "emulator/cmd/serve_command.h"

namespace opensandbox::emulator {
namespace {

struct Command {
  std::string name;
  std::string summary;
  ExitCode (*run)(const std::vector<std::string>& arguments);
};

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"serve", "answer clients as the provider would, until told to stop", RunServeCommand},
      {"run", "drive the client library through scenarios and judge each", RunRunCommand},
      {"check", "look for mistakes in scenario files", RunCheckCommand},
  };
  return commands;
}

std::string Help() {
  std::string text = "Usage: opensandbox-emulator COMMAND [FLAG...]\n\nCommands:\n";
  for (const Command& command : Commands()) {
    text += "  " + command.name + std::string(8 - command.name.size(), ' ') + command.summary + "\n";
  }
  text +=
      "\nFlags:\n"
      "  --help     show this text; after a command, that command's\n"
      "  --version  show the version\n"
      "\nExample:\n"
      "  opensandbox-emulator run scenarios/\n"
      "\nExit codes: 0 all is well, 1 a scenario failed, 2 bad usage, 3 a scenario file has mistakes,\n"
      "4 can't listen, 5 a file can't be read or written, 70 a bug in this program.\n";
  return text;
}

}  // namespace

ExitCode RunApp(const std::vector<std::string>& arguments) {
  IgnoreBrokenPipes();
  if (arguments.empty()) {
    Talk(Help());
    return ExitCode::kBadUsage;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    return PrintData(Help()) ? ExitCode::kOk : ExitCode::kInputOutput;
  }
  if (first == "--version") {
    return PrintData("opensandbox-emulator " OPENSANDBOX_VERSION "\n") ? ExitCode::kOk : ExitCode::kInputOutput;
  }
  for (const Command& command : Commands()) {
    if (command.name == first) return command.run({arguments.begin() + 1, arguments.end()});
  }
  const std::string what = first.substr(0, 1) == "-" ? "unrecognised option" : "there is no command";
  Talk("opensandbox-emulator: " + what + " '" + first + "'; see 'opensandbox-emulator --help'\n");
  return ExitCode::kBadUsage;
}

ExitCode RunGuarded(const std::function<ExitCode()>& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    Talk(std::string("opensandbox-emulator: internal error: ") + exception.what() + "\n");
  } catch (...) {  // the last place where anything can be said
    Talk("opensandbox-emulator: internal error\n");
  }
  return ExitCode::kInternal;
}

}  // namespace opensandbox::emulator

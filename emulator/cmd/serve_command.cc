#include "emulator/cmd/serve_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "emulator/cmd/process.h"
#include "emulator/cmd/scenario_files.h"
#include "emulator/cmd/serve_options.h"
#include "emulator/report/printable.h"
#include "emulator/report/report.h"
#include "emulator/service/emulator.h"

namespace opensandbox::emulator {
namespace {

// How long exchanges that end by themselves get after the signal.
constexpr Duration kDrainGrace = std::chrono::seconds(5);

void Say(const std::string& text) { Talk("opensandbox-emulator serve: " + text + "\n"); }

bool IsFolder(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// What a scenario asks for that this version can't do; empty if nothing.
std::string WhyUnsupported(const Scenario& scenario) {
  if (scenario.profile == Profile::kDocker) return "";
  return scenario.file + ": the profile of this scenario is not emulated yet, only docker is";
}

// Tenants as the command line wants them; a code other than kOk after everything was said.
ExitCode MakeTenants(const ServeOptions& options, std::vector<TenantOptions>* tenants) {
  TenantOptions tenant;
  tenant.clock = options.clock;
  tenant.strict = options.strict;
  tenant.api_key = options.api_key.value_or("");
  if (options.seed != 0) tenant.seed = options.seed;
  if (!options.scenario_path) {
    tenants->push_back(std::move(tenant));
    return ExitCode::kOk;
  }
  const ScenarioFiles files = LoadScenarioFiles({*options.scenario_path});
  if (files.Code() != ExitCode::kOk) {
    Talk(files.ProblemsText());
    return files.Code();
  }
  const bool folder = IsFolder(*options.scenario_path) || files.scenarios.size() > 1;
  std::map<std::string, std::string> file_of_name;
  for (const auto& scenario : files.scenarios) {
    if (const std::string why = WhyUnsupported(*scenario); !why.empty()) {
      Say(why);
      return ExitCode::kBadScenario;
    }
    tenant.scenario = scenario;
    if (folder) {
      const auto [it, is_new] = file_of_name.emplace(scenario->name, scenario->file);
      if (!is_new) {
        Say(scenario->file + ": the name \"" + scenario->name + "\" is that of " + it->second + " too");
        return ExitCode::kBadScenario;
      }
      tenant.name = scenario->name;
      tenant.api_key = scenario->name;
    }
    tenants->push_back(tenant);
  }
  return ExitCode::kOk;
}

std::string ReadyLine(const Emulator& emulator) {
  nlohmann::ordered_json line;
  line["address"] = emulator.address();
  line["control"] = emulator.control_address();
  line["tls"] = nullptr;
  line["seed"] = emulator.seed();
  line["pid"] = getpid();
  return line.dump() + "\n";
}

std::string RepeatCommand(const ServeOptions& options, std::uint64_t seed) {
  return "opensandbox-emulator serve --scenario " + ShellQuote(options.scenario_path.value_or("")) + " --seed " +
         std::to_string(seed);
}

std::vector<ReportRow> JudgeAll(Emulator& emulator, const ServeOptions& options) {
  std::vector<ReportRow> rows;
  for (const std::string& name : emulator.TenantNames()) {
    const std::shared_ptr<Tenant> tenant = emulator.FindTenant(name);
    Result<Verdict> verdict = emulator.JudgeTenant(name, {});
    if (tenant == nullptr || !verdict) continue;
    ReportRow row;
    std::lock_guard lock(tenant->mutex);
    row.name = tenant->engine->scenario().name;
    row.file = tenant->engine->scenario().file;
    row.seed = tenant->seed;
    row.replay_command = RepeatCommand(options, emulator.seed());
    row.verdict = *std::move(verdict);
    row.real_duration = row.verdict.virtual_duration;
    rows.push_back(std::move(row));
  }
  return rows;
}

void PrintVerdicts(const std::vector<ReportRow>& rows) {
  std::vector<std::string> names;
  for (const ReportRow& row : rows) names.push_back(row.name);
  const std::size_t width = NameWidth(names);
  std::string text = TextHeader(width);
  for (const ReportRow& row : rows) text += TextRow(row, width, /*colour=*/false);
  Talk(text);
}

}  // namespace

ExitCode RunServeCommand(const std::vector<std::string>& arguments) {
  CommandLine line = MakeServeCommandLine();
  const ExitCode usage = line.Parse(arguments);
  if (usage != ExitCode::kOk || line.help_shown()) return usage;
  const ServeOptions options = ReadServeOptions(line);
  if (options.api_key && options.scenario_path && IsFolder(*options.scenario_path)) {
    line.Complain("--api-key does not go with a folder of scenarios: there each scenario's name is the key");
  }
  if (line.Finish() != ExitCode::kOk) return ExitCode::kBadUsage;

  EmulatorOptions emulator_options;
  const ExitCode tenants = MakeTenants(options, &emulator_options.tenants);
  if (tenants != ExitCode::kOk) return tenants;
  if (options.ready_file) {
    // What an earlier run left behind must not be taken for this one's readiness.
    unlink(options.ready_file->c_str());
    if (const auto writable = CheckWritable(*options.ready_file); !writable) {
      Say("--ready-file: " + writable.error().message);
      return ExitCode::kInputOutput;
    }
  }

  RaiseDescriptorLimit();
  StopSignals signals;
  emulator_options.host = options.host;
  emulator_options.port = options.port;
  emulator_options.control_port = options.control_port;
  emulator_options.clock = options.clock;
  emulator_options.seed = options.seed;
  auto started = Emulator::Start(std::move(emulator_options));
  if (!started) {
    if (started.error().kind == ErrorKind::kInvalidArgument) {
      line.Complain(started.error().message);
      return line.Finish();
    }
    Say(started.error().message);
    return ExitCode::kCannotListen;
  }
  Emulator& emulator = **started;

  const std::string ready = ReadyLine(emulator);
  if (options.ready_file) {
    if (const auto written = WriteFileAtomically(*options.ready_file, ready); !written) {
      Say("--ready-file: " + written.error().message);
      return ExitCode::kInputOutput;
    }
  }
  Talk("serving " + emulator.base_url() + ", control API http://" + emulator.control_address() + ", seed " +
       std::to_string(emulator.seed()) + "; Ctrl-C ends it\n");
  PrintData(ready);  // a reader that has gone away does not stop the service

  signals.Wait([&emulator] { return emulator.shutdown_requested(); });
  emulator.Stop(kDrainGrace);
  if (options.ready_file) unlink(options.ready_file->c_str());
  if (options.scenario_path) PrintVerdicts(JudgeAll(emulator, options));
  return ExitCode::kOk;
}

}  // namespace opensandbox::emulator

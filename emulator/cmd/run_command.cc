#include "emulator/cmd/run_command.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "emulator/cmd/command_line.h"
#include "emulator/cmd/process.h"
#include "emulator/cmd/scenario_files.h"
#include "emulator/report/report.h"
#include "emulator/runner/runner.h"
#include "opensandbox/base/units.h"

namespace opensandbox::emulator {
namespace {

constexpr char kSuiteName[] = "opensandbox-emulator";

struct Shard {
  std::uint64_t index = 1;  // from 1
  std::uint64_t count = 1;
};

struct RunFlags {
  RunOptions options;
  std::vector<std::string> tags;
  Shard shard;
  std::optional<std::string> junit_file;
};

std::optional<std::uint64_t> ParseNumber(const std::string& text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

std::optional<Shard> ParseShard(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto index = ParseNumber(text.substr(0, slash));
  const auto count = ParseNumber(text.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count) return std::nullopt;
  return Shard{*index, *count};
}

CommandLine MakeCommandLine() {
  return CommandLine(
      "run", "PATH...",
      "Plays each scenario file, or all *.scenario.json files below a folder: an emulator of its own, a clock of its\n"
      "own, the client library taking the scenario's steps. Prints one line per scenario and, for a failure, why.",
      "opensandbox-emulator run scenarios/ --tag cleanup --junit results.xml",
      {{"tag", "T", "only scenarios with this tag; repeated: with any of them", true},
       {"jobs", "N", "scenarios at the same time (default: twice the number of cores)"},
       {"shard", "I/N", "only the I-th of N equal parts of the scenarios, I from 1"},
       {"seed", "N", "the seed of every scenario, instead of its own (default: 1)"},
       {"strict", "", "a run of code that no rule matched fails the scenario"},
       {"junit", "FILE", "write the results as JUnit XML"},
       {"stuck-after", "TIME", "give a scenario up when nothing moved for this real time (default: 30s)"}});
}

RunFlags ReadFlags(CommandLine& line) {
  RunFlags flags;
  flags.tags = line.Values("tag");
  flags.options.jobs = static_cast<int>(line.Number("jobs", 1, 1000).value_or(0));
  flags.options.seed = line.Number("seed", 0, UINT64_MAX);
  flags.options.strict = line.Has("strict");
  flags.junit_file = line.Value("junit");
  if (const auto text = line.Value("shard")) {
    const auto shard = ParseShard(*text);
    if (shard) flags.shard = *shard;
    if (!shard) line.ComplainAbout("shard", *text, "I/N with 1 <= I <= N, e.g. 1/4");
  }
  if (const auto text = line.Value("stuck-after")) {
    const auto time = ParseDuration(*text);
    if (time && *time > Duration::zero()) {
      flags.options.stuck_after = *time;
      flags.options.give_up_after = std::max(flags.options.give_up_after, *time);
    } else {
      line.ComplainAbout("stuck-after", *text, "a duration, e.g. 30s");
    }
  }
  return flags;
}

std::vector<std::shared_ptr<const Scenario>> Select(const std::vector<std::shared_ptr<const Scenario>>& scenarios,
                                                    const RunFlags& flags) {
  std::vector<std::shared_ptr<const Scenario>> tagged;
  for (const auto& scenario : scenarios) {
    const auto wanted = [&](const std::string& tag) {
      return std::find(scenario->tags.begin(), scenario->tags.end(), tag) != scenario->tags.end();
    };
    if (flags.tags.empty() || std::any_of(flags.tags.begin(), flags.tags.end(), wanted)) tagged.push_back(scenario);
  }
  std::vector<std::shared_ptr<const Scenario>> selected;
  // Every N-th one, so that slow neighbours are spread over the shards.
  for (std::size_t i = flags.shard.index - 1; i < tagged.size(); i += flags.shard.count) selected.push_back(tagged[i]);
  return selected;
}

ReportRow MakeRow(const ScenarioResult& result) {
  ReportRow row;
  row.name = result.scenario->name;
  row.file = result.scenario->file;
  row.verdict = result.verdict;
  row.real_duration = result.real_duration;
  row.seed = result.seed;
  row.skipped = result.skipped;
  row.skip_reason = result.skip_reason;
  return row;
}

// Prints rows in the order of the scenarios, each as soon as all before it are there.
class OrderedPrinter {
 public:
  OrderedPrinter(const std::vector<std::shared_ptr<const Scenario>>& scenarios, std::size_t name_width)
      : name_width_(name_width), colour_(StdoutHasColour()), rows_(scenarios.size()) {
    for (std::size_t i = 0; i < scenarios.size(); ++i) index_[scenarios[i].get()] = i;
  }

  void Add(const ScenarioResult& result) {
    rows_[index_.at(result.scenario.get())] = MakeRow(result);
    while (next_ < rows_.size() && rows_[next_]) written_ &= PrintData(TextRow(*rows_[next_++], name_width_, colour_));
  }
  bool written() const { return written_; }

 private:
  const std::size_t name_width_;
  const bool colour_;
  std::map<const Scenario*, std::size_t> index_;
  std::vector<std::optional<ReportRow>> rows_;
  std::size_t next_ = 0;
  bool written_ = true;
};

// "3 pending: commands 1, renew 2", or nothing: of the scenarios whose tag says what they still wait for.
std::string PendingText(const std::vector<std::shared_ptr<const Scenario>>& scenarios) {
  constexpr std::string_view kPrefix = "pending:";
  std::map<std::string, int> reasons;
  std::set<std::string> files;
  for (const auto& scenario : scenarios) {
    for (const std::string& tag : scenario->tags) {
      // A matrix counts once.
      if (tag.starts_with(kPrefix) && files.insert(scenario->file).second) ++reasons[tag.substr(kPrefix.size())];
    }
  }
  if (files.empty()) return "";
  std::string text;
  for (const auto& [reason, count] : reasons) text += (text.empty() ? "" : ", ") + reason + " " + std::to_string(count);
  return std::to_string(files.size()) + " pending: " + text + "\n";
}

// Threads that could not be ended still use the process's objects: leave without destroying those.
ExitCode Leave(ExitCode code, bool abandoned) {
  if (abandoned) std::_Exit(static_cast<int>(code));
  return code;
}

}  // namespace

ExitCode RunRunCommand(const std::vector<std::string>& arguments) {
  CommandLine line = MakeCommandLine();
  const ExitCode usage = line.Parse(arguments);
  if (usage != ExitCode::kOk || line.help_shown()) return usage;
  const RunFlags flags = ReadFlags(line);
  if (line.Finish() != ExitCode::kOk) return ExitCode::kBadUsage;

  const ScenarioFiles files = LoadScenarioFiles(line.arguments());
  if (files.Code() != ExitCode::kOk) {
    Talk(files.ProblemsText());
    return files.Code();
  }
  const auto scenarios = Select(files.scenarios, flags);
  if (scenarios.empty() && flags.shard.count == 1) {
    line.Complain("--tag: no scenario has such a tag");
    return line.Finish();
  }
  // A report that can't be written is told before the work, not after it.
  if (flags.junit_file) {
    if (const auto writable = CheckWritable(*flags.junit_file); !writable) {
      Talk("opensandbox-emulator run: --junit: " + writable.error().message + "\n");
      return ExitCode::kInputOutput;
    }
  }

  RaiseDescriptorLimit();
  std::vector<std::string> names;
  for (const auto& scenario : scenarios) names.push_back(scenario->name);
  const std::size_t name_width = NameWidth(names);
  bool written = PrintData(TextHeader(name_width));
  OrderedPrinter printer(scenarios, name_width);
  const auto began = std::chrono::steady_clock::now();
  const auto results =
      RunScenarios(scenarios, flags.options, [&printer](const ScenarioResult& result) { printer.Add(result); });
  const Duration real_total = std::chrono::steady_clock::now() - began;

  std::vector<ReportRow> rows;
  bool abandoned = false, failed = false;
  for (const ScenarioResult& result : results) {
    rows.push_back(MakeRow(result));
    abandoned |= result.abandoned;
    failed |= !result.skipped && !result.verdict.passed;
  }
  written &= printer.written();
  written &= PrintData("\n" + TextSummary(rows, real_total) + PendingText(scenarios));
  if (flags.junit_file) {
    if (const auto done = WriteFileAtomically(*flags.junit_file, JUnitXml(rows, kSuiteName)); !done) {
      Talk("opensandbox-emulator run: --junit: " + done.error().message + "\n");
      written = false;
    }
  }
  if (!written) return Leave(ExitCode::kInputOutput, abandoned);
  return Leave(failed ? ExitCode::kVerdictFailed : ExitCode::kOk, abandoned);
}

}  // namespace opensandbox::emulator

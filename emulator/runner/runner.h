// Drives the client library through scenarios.
#ifndef OPENSANDBOX_EMULATOR_RUNNER_RUNNER_H_
#define OPENSANDBOX_EMULATOR_RUNNER_RUNNER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/scenario/loader.h"
#include "emulator/scenario/verdict.h"

namespace opensandbox::emulator {

class Emulator;
struct ScenarioResult;

// The seed of a scenario that names none, so that two runs without --seed are the same run.
inline constexpr std::uint64_t kDefaultRunSeed = 1;
// The tenant that the runner's client talks to.
inline constexpr char kRunTenant[] = "run";

struct RunOptions {
  int jobs = 0;                       // 0: twice the number of cores
  std::optional<std::uint64_t> seed;  // overrides the scenarios'
  bool strict = false;
  // Real time after which a scenario on a virtual clock is given up as stuck in which nothing moved: no jump of the
  // clock, no request, no step.
  Duration stuck_after = std::chrono::seconds(30);
  // Real time after which any scenario is given up, moving or not.
  Duration give_up_after = std::chrono::minutes(5);
  // How long, in real time, a given-up scenario gets to come to its end before its threads are abandoned.
  Duration rescue_grace = std::chrono::seconds(10);
  // Called on the scenario's thread before the first step.
  std::function<void(Emulator& emulator)> on_start;
  // Called on the scenario's thread once it was judged, while its emulator still lives: for looking at the journal.
  // `result.real_duration` is not set yet.
  std::function<void(const ScenarioResult& result, Emulator& emulator)> inspect;
};

struct ScenarioResult {
  std::shared_ptr<const Scenario> scenario;
  Verdict verdict;
  Duration real_duration{0};
  std::uint64_t seed = 0;
  bool skipped = false;
  std::string skip_reason;
  // It was stuck and its thread could not be ended. The process must be left without running destructors
  // (std::_Exit), because that thread still uses what they would destroy.
  bool abandoned = false;
};

// Each scenario with its own emulator, tenant and clock; results in the order given. `on_result` is called as each
// finishes, from any thread, one call at a time; it may be empty. Sandboxes that the steps leave alive are not deleted:
// they show as leaks.
std::vector<ScenarioResult> RunScenarios(const std::vector<std::shared_ptr<const Scenario>>& scenarios,
                                         const RunOptions& options,
                                         const std::function<void(const ScenarioResult&)>& on_result);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_RUNNER_RUNNER_H_

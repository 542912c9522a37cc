// Drives the client library through scenarios.
#ifndef OPENSANDBOX_EMULATOR_RUNNER_RUNNER_H_
#define OPENSANDBOX_EMULATOR_RUNNER_RUNNER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/scenario/loader.h"
#include "emulator/scenario/verdict.h"

namespace opensandbox::emulator {

struct RunOptions {
  int jobs = 0;  // 0: twice the number of cores
  std::optional<std::uint64_t> seed;  // overrides the scenarios'
  bool strict = false;
  // Real time after which a scenario that makes no progress is given up as stuck.
  Duration stuck_after = std::chrono::seconds(30);
};

struct ScenarioResult {
  std::shared_ptr<const Scenario> scenario;
  Verdict verdict;
  Duration real_duration{0};
  std::uint64_t seed = 0;
  bool skipped = false;
  std::string skip_reason;
};

// Each scenario with its own emulator, tenant and clock; results in the order given. `on_result` is called as each
// finishes, from any thread, one call at a time.
std::vector<ScenarioResult> RunScenarios(const std::vector<std::shared_ptr<const Scenario>>& scenarios,
                                         const RunOptions& options,
                                         const std::function<void(const ScenarioResult&)>& on_result);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_RUNNER_RUNNER_H_

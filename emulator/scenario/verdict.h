// Judges a finished run of a scenario.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_VERDICT_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_VERDICT_H_

#include <string>
#include <vector>

#include "emulator/core/ledger.h"
#include "emulator/scenario/engine.h"

namespace opensandbox::emulator {

struct Verdict {
  bool passed = true;
  std::vector<std::string> failures;  // each a sentence in words
  std::vector<std::string> warnings;  // e.g. unmatched executions
  LedgerSummary ledger;
  std::vector<LeakedSandbox> leaks;
  std::uint64_t requests = 0;
  std::uint64_t faults_fired = 0;
  Duration virtual_duration{0};
};

// Looks at the ledger, the journal and the rule accounting; hold the tenant's lock. `strict`: unmatched executions
// fail. `step_failures` are what the runner found at the client's steps.
Verdict Judge(const Scenario& scenario, const ScenarioEngine& engine, const SandboxStore& store, const Journal& journal,
              TimePoint start, TimePoint now, bool strict, const std::vector<std::string>& step_failures);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_VERDICT_H_

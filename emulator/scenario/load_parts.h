// The parts of a scenario file, each read by its own file.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_LOAD_PARTS_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_LOAD_PARTS_H_

#include <set>
#include <string>
#include <vector>

#include "emulator/scenario/object_reader.h"

namespace opensandbox::emulator {

// Ids of rules, unique over the whole file; "sandboxes/0" is the id of a rule that has none.
class RuleIds {
 public:
  // The rule's field "id" or, if it has none, `fallback`. Reports a bad or repeated one.
  std::string Take(const ObjectReader& rule, const std::string& fallback);

 private:
  std::set<std::string> taken_;
};

std::vector<SandboxRule> LoadSandboxes(const ObjectReader& scenario, RuleIds& ids);
std::vector<ExecutionRule> LoadExecution(const ObjectReader& scenario, RuleIds& ids);
std::vector<FaultRule> LoadFaults(const ObjectReader& scenario, RuleIds& ids);
std::vector<ListenerRule> LoadListener(const ObjectReader& scenario, RuleIds& ids);
ClientSettings LoadClientSettings(const ObjectReader& scenario);
std::vector<ClientStep> LoadClient(const ObjectReader& scenario);
Expectations LoadExpectations(const ObjectReader& scenario);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_LOAD_PARTS_H_

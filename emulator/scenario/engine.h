// Decides, request by request, what a loaded scenario makes of it, and counts what it did.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_ENGINE_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_ENGINE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/core/http_message.h"
#include "emulator/scenario/scenario.h"

namespace opensandbox::emulator {

struct OperationCall {
  std::string operation;
  const Request* request = nullptr;
  std::string sandbox_image;  // of the sandbox concerned; of the request's body for a create
  Duration since_load{0};
  std::uint64_t live_sandboxes = 0;  // of the tenant
  std::uint64_t open_streams = 0;    // of the sandbox concerned
};

// The fault rules that act on one request, in file order. Of respond and auth together, of ending and of cut only the
// first rule that has it gives it; everything else of all rules adds up. A rule of which nothing would be left does not
// act.
struct Decision {
  std::vector<const FaultRule*> rules;
  bool commit = true;
  std::optional<Duration> commit_after;  // with commit false: it takes effect all the same, that long afterwards
  const Respond* respond = nullptr;
  std::optional<std::string> retry_after;  // of `respond`: the header's value
  std::optional<AuthFailure> auth;         // instead of `respond`
  Duration delay{0}, delay_body{0};        // of all rules together, drawn
  // Of `rules`, by index: the length of the rule's stall, drawn.
  std::vector<Duration> stalls;
  std::vector<std::string> RuleIds() const;
};

struct RuleUsage {
  std::string id;
  std::uint64_t fitted = 0;  // requests that fitted its operation, its match and its window
  std::uint64_t fired = 0;   // requests on which it acted, those left out whose reply ended before its place came
  bool may_stay_unused = false;
};

// One per tenant and loaded scenario. Not thread-safe: its tenant's lock guards it. Draws come from streams of
// (seed, rule id, occurrence), so a rule more or less leaves the others' draws alone.
class ScenarioEngine {
 public:
  ScenarioEngine(std::shared_ptr<const Scenario> scenario, std::uint64_t seed);

  const Scenario& scenario() const { return *scenario_; }
  std::uint64_t seed() const { return seed_; }

  // First matching rule of `sandboxes`; without one: Running at once.
  SandboxBehaviour PlanSandbox(const std::string& image, const std::map<std::string, std::string>& metadata);
  Decision Decide(const OperationCall& call);
  // The reply ended before the place came where the rule would have acted.
  void NoteMissed(const std::string& rule_id);
  // First matching rule of `execution`. Without one: an empty success with an empty rule_id, and `near_miss` (if not
  // null) explains the closest rule and the first difference.
  ExecutionScript PlanExecution(const ExecutionCall& call, std::string* near_miss);

  // What happens to a new connection; nullopt: nothing special.
  std::optional<ListenerRule::Action> DecideConnection(Duration since_load);
  // The listener was closed as a rule wants it.
  void NoteRefusing(std::size_t listener_rule);

  // In file order.
  std::vector<RuleUsage> FaultUsage() const;
  std::vector<RuleUsage> ListenerUsage() const { return listener_usage_; }
  std::uint64_t unmatched_executions() const { return unmatched_executions_; }

 private:
  // Whether the request is beyond the rule's quota; if it is one of requests, how long until another would pass.
  bool IsOver(std::size_t index, const OperationCall& call, Duration* until_free);

  std::shared_ptr<const Scenario> scenario_;
  std::uint64_t seed_;
  std::uint64_t creates_ = 0;
  std::vector<std::uint64_t> sandbox_fits_;    // by index of the rule: creates that it answered
  std::vector<std::uint64_t> execution_fits_;  // executions that fitted all of the rule but its nth
  std::vector<RuleUsage> usage_;               // by index of the fault rule
  // By index of the fault rule: when the requests came that its quota let pass, no older than its `per`.
  std::vector<std::deque<Duration>> passed_;
  std::vector<RuleUsage> listener_usage_;  // by index of the listener rule
  std::uint64_t unmatched_executions_ = 0;
};

// The default scenario: everything works.
std::shared_ptr<const Scenario> DefaultScenario();

// Linear in the length of the value for regular expressions; any length is safe on a small stack.
bool Matches(const TextPattern& pattern, std::string_view value);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_ENGINE_H_

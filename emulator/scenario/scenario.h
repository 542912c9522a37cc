// A scenario file in memory: what the provider does, what the client does, what must hold.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_SCENARIO_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_SCENARIO_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "emulator/core/lifecycle.h"
#include "emulator/execution/execution.h"
#include "emulator/scenario/fault_rule.h"

namespace opensandbox::emulator {

enum class ClockMode { kReal, kScaled, kVirtual };
enum class Profile { kDocker, kKubernetes, kSpec };

struct SandboxMatch {
  std::optional<TextPattern> image;
  std::map<std::string, TextPattern> metadata;
  std::optional<int> nth;  // the n-th create of the tenant, from 1
};

struct ScriptedStage {
  Stage stage;
  Duration jitter{0};  // the duration is drawn from [for - jitter, for + jitter]
  int weight = 0;      // > 0: neighbours with weights are alternatives, one is drawn
};

struct SandboxRule {
  std::string id;  // "sandboxes/0" unless given
  SandboxMatch match;
  std::vector<ScriptedStage> lifecycle;
  EndpointBehaviour endpoint;
  std::optional<DeathBehaviour> death;
};

struct ExecutionRule {
  std::string id;
  std::optional<std::string> operation;
  std::optional<TextPattern> code;
  std::optional<TextPattern> language;
  std::optional<TextPattern> image;
  std::optional<int> nth;  // the n-th execution that the rest of the match fits
  ExecutionScript script;
};

// What happens to connections before any request. Of nth, first, every and probability at most one is given.
struct ListenerRule {
  enum class Action { kRefuse, kReset, kHang };
  std::string id;
  Action action = Action::kReset;
  std::optional<std::uint64_t> nth, first, every;  // of the connections in the window; not with kRefuse
  std::optional<double> probability;
  Duration from{0};               // since the scenario was loaded
  std::optional<Duration> until;  // absent: for ever
  bool may_stay_unused = false;
};

// --- what the client does -------------------------------------------------------------------------------------------

// What a client step must come to. Absent fields are not looked at.
struct StepExpectation {
  std::optional<std::string> error;  // "terminalState", "timeout", ... ; absent together with `ok`: must succeed
  std::optional<TextPattern> message;
  std::optional<std::string> timeout_clock;  // "ready", "idle", "runDeadline", "request", "connect"
  std::optional<std::string> outcome;        // "didNotHappen", "happened", "unknown"
  std::optional<std::string> cleanup;        // "notNeeded", "deleted", "failed"
  std::optional<std::string> state, reason, state_message;
  std::optional<int> http_status;
  std::optional<int> attempts;
  bool names_sandbox = false;  // the error carries the id of a sandbox in the ledger
  std::optional<TextPattern> stdout_text;
  std::optional<TextPattern> stderr_text;
  std::optional<std::uint64_t> stdout_bytes;
  std::optional<std::string> execution_error;  // name of the exception
  std::optional<bool> truncated;
  std::optional<bool> deleted;     // the bool of a delete
  std::optional<Duration> within;  // virtual duration of the step, at most
  std::optional<Duration> at_least;
};

struct CreateStep {
  std::optional<std::string> image;
  std::optional<Duration> timeout;
  std::optional<Duration> ready_timeout;
  std::map<std::string, std::string> metadata;
};
struct RunStep {
  std::string code;
  std::string language = "python";
  std::optional<Duration> deadline, idle_timeout;
  std::optional<std::uint64_t> output_bytes_max;
};
struct DeleteStep {
  std::optional<std::string> id;  // absent: the sandbox of the last create
};
struct WaitStep {
  Duration duration{0};
};
// create, run, delete in one call.
struct EphemeralStep {
  CreateStep create;
  RunStep run;
};
struct ClientStep {
  std::variant<CreateStep, RunStep, DeleteStep, WaitStep, EphemeralStep> action;
  std::optional<Duration> cancel_after;  // a stop is requested that long after the step began
  StepExpectation expect;
};

// Settings of the client that the steps use.
struct ClientSettings {
  std::string provider = "opensandbox";
  std::string lost_create = "delete";  // or "adopt"
  std::optional<int> retry_attempts_max;
};

// --- what must hold
// ----------------------------------------------------------------------------------------------------

struct RequestExpectation {
  std::string operation;
  std::optional<std::uint64_t> count, at_least, at_most;
  std::optional<Duration> within;  // the first such request comes at most that long after the scenario began
};

struct Expectations {
  std::optional<std::uint64_t> live;  // sandboxes alive at the end
  std::optional<std::uint64_t> created, deleted, expired, died;
  std::optional<std::uint64_t> leaks;  // default 0: `live` plus those only their timeout ended
  bool all_faults_consumed = false;    // the loader's default is true
  std::vector<RequestExpectation> requests;
  std::vector<std::string> order;  // a subsequence of the operations, in the order received
  std::optional<Duration> within;  // virtual duration of the whole scenario
};

struct Scenario {
  std::string file;  // where it came from; empty: inline
  std::string name;
  std::string description;
  std::vector<std::string> tags;
  std::optional<std::uint64_t> seed;
  ClockMode clock = ClockMode::kVirtual;
  double clock_scale = 1.0;
  Profile profile = Profile::kDocker;
  std::vector<SandboxRule> sandboxes;
  std::vector<ExecutionRule> execution;
  std::vector<FaultRule> faults;
  std::vector<ListenerRule> listener;
  ClientSettings client_settings;
  std::vector<ClientStep> client;
  Expectations expect;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_SCENARIO_H_

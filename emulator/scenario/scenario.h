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
#include "emulator/core/reply_plan.h"
#include "emulator/execution/execution.h"

namespace opensandbox::emulator {

enum class ClockMode { kReal, kScaled, kVirtual };
enum class Profile { kDocker, kKubernetes, kSpec };

class Regex;  // emulator/scenario/regex.h

// A pattern: "/.../" is a regular expression (searched; see regex.h for its syntax), text with '*' or '?' a glob over
// the whole value, anything else an exact value. With `exact` the text is never taken for more than itself.
struct TextPattern {
  std::string text;
  bool exact = false;
  std::shared_ptr<const Regex> regex;  // compiled by the loader; without it Matches() compiles on each call
};

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

// When a fault rule acts. All given conditions must hold; of nth/first/every/probability at most one is given.
struct FaultTrigger {
  std::string operation;  // operation::k..., or "*"
  std::optional<TextPattern> sandbox_image;
  std::map<std::string, TextPattern> header;
  std::optional<TextPattern> body;
  std::optional<std::uint64_t> nth;    // the n-th request that fits, from 1
  std::optional<std::uint64_t> first;  // the first n
  std::optional<std::uint64_t> every;  // each n-th
  std::optional<double> probability;
  std::optional<Duration> from, until;  // window since the scenario was loaded
};

enum class Commit { kYes, kNo };

struct Respond {
  int status = 200;
  std::vector<Header> headers;
  std::optional<std::string> body;  // sent as it is
  std::string content_type = "application/json";
  std::optional<std::string> retry_after;  // header value, already formatted
};

struct CutFault {
  // Exactly one place: before_headers, after_headers, at_byte alone, or at_event.
  bool before_headers = false;
  bool after_headers = false;
  std::optional<std::uint64_t> at_byte;   // payload bytes of the body; with at_event: bytes of the event behind it
  std::optional<std::uint64_t> at_event;  // events wholly sent before (streams): 3 = after the third
  // With at_event: in the first character of more than one byte that comes after those events, one byte of it sent.
  bool in_character = false;
  Ending how = Ending::kFin;
};

struct FaultRule {
  std::string id;
  FaultTrigger on;
  Commit commit = Commit::kYes;  // whether the operation takes effect; default: yes, but no with `respond`
  std::optional<Respond> respond;
  std::optional<CutFault> cut;
  std::optional<Duration> delay;       // before the head
  std::optional<Duration> delay_body;  // between the head and the body
  // What happens behind the last payload byte instead of a proper end. kSilence: no terminator, and the connection is
  // never served again. (A request that is never answered: a cut before the headers with kSilence.)
  std::optional<Ending> ending;
  std::optional<std::string> append;  // raw text put before the end of a stream, e.g. a bare error object
  bool may_stay_unused = false;       // exempt from `faults: allConsumed`
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
  std::optional<std::uint64_t> created, deleted, expired;
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
  ClientSettings client_settings;
  std::vector<ClientStep> client;
  Expectations expect;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_SCENARIO_H_

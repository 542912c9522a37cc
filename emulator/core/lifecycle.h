// Sandbox states, what a scenario may script about them, and the real server's answers to each action.
#ifndef OPENSANDBOX_EMULATOR_CORE_LIFECYCLE_H_
#define OPENSANDBOX_EMULATOR_CORE_LIFECYCLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opensandbox/base/time.h"

namespace opensandbox::emulator {

// An open set: these eight are the API's, a scenario may use any other word.
namespace state {
inline constexpr char kPending[] = "Pending";
inline constexpr char kRunning[] = "Running";
inline constexpr char kPausing[] = "Pausing";
inline constexpr char kPaused[] = "Paused";
inline constexpr char kResuming[] = "Resuming";
inline constexpr char kStopping[] = "Stopping";
inline constexpr char kTerminated[] = "Terminated";
inline constexpr char kFailed[] = "Failed";
bool IsKnown(std::string_view state);
const std::vector<std::string>& All();
}  // namespace state

// One step of a sandbox's life, already drawn (jitter and weights are the scenario engine's business). The sandbox is
// in `state` until the first of the given conditions; with none it stays for good.
struct Stage {
  std::string state;
  std::string reason;  // empty: the docker profile's words for that state
  std::string message;
  std::optional<Duration> duration;  // since the stage began
  std::optional<int> polls;          // leaves with the answer after this many GETs showed it (1: one GET shows it)
  std::optional<std::string> until;  // an operation name: leaves when such a request for the sandbox arrives
  bool operator==(const Stage&) const = default;
};

// How the endpoint look-up of a new sandbox behaves.
struct EndpointBehaviour {
  std::optional<Duration> ready_after;                       // since creation; 404 before
  std::optional<int> ready_after_polls;                      // that many look-ups are 404
  bool never = false;                                        // always 404
  bool omit_endpoint = false;                                // 200 without the field `endpoint`
  bool refused = false;                                      // an address at which nobody listens
  std::vector<std::pair<std::string, std::string>> headers;  // given with the address
};

// How the death of a sandbox shows to whoever asks for it or listens to it.
enum class DeathFace {
  kNotFound,     // 404 everywhere; its streams break off
  kGone,         // the same with 410
  kBadGateway,   // the same with 502
  kReset,        // every connection that concerns it is reset
  kBlackHole,    // no answer any more, and no end
  kCleanEnd,     // the API says 404; execd answers with nothing at all, properly ended, and so do its streams
  kHealthyPing,  // the API says Running and execd's ping is well, but nothing that runs ever says or does anything
};

// A sandbox that dies by itself: at the first of the given moments.
struct DeathBehaviour {
  std::optional<Duration> after;              // since its creation
  std::optional<std::string> on;              // when the nth request of that operation for it arrives; it finds it dead
  std::uint64_t nth = 1;                      // of `on`
  double probability = 1;                     // drawn for each sandbox by the scenario engine
  std::optional<std::uint64_t> after_events;  // once a stream of it has sent so many events
  DeathFace face = DeathFace::kNotFound;
};

// What the scenario wants of one new sandbox.
struct SandboxBehaviour {
  std::string rule_id;        // empty: the default
  std::vector<Stage> stages;  // empty: Running at once
  EndpointBehaviour endpoint;
  std::optional<DeathBehaviour> death;
};

// What an action does to a sandbox in a state, docker profile (wire reference 1.7, 1.10).
enum class Action { kGet, kPause, kResume, kDelete, kRenew, kRunCode, kGetEndpoint, kPatchMetadata };
enum class ActionVerdict {
  kAllowed,
  kNotRunning,     // 409 DOCKER::SANDBOX_NOT_RUNNING
  kNotPaused,      // 409 DOCKER::SANDBOX_NOT_PAUSED
  kAlreadyPaused,  // 500 DOCKER::SANDBOX_PAUSE_FAILED
  kUnreachable,    // nothing listens in the sandbox: the connection is refused (execd calls)
};
struct ActionRow {
  std::string_view state;
  Action action;
  ActionVerdict verdict;
  std::string_view next_state;  // empty: unchanged; "deleted" for kDelete
};
// The whole table, every known state times every action, readable aloud.
const std::vector<ActionRow>& LifecycleTable();
// The row; an unknown state is treated as Pending.
const ActionRow& LookUp(std::string_view state, Action action);

// The docker profile's reason and message for a state.
struct StatusText {
  std::string reason;
  std::string message;
};
StatusText DefaultStatusText(std::string_view state);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CORE_LIFECYCLE_H_

#include "emulator/core/lifecycle.h"

#include <algorithm>

namespace opensandbox::emulator {
namespace state {

const std::vector<std::string>& All() {
  static const auto* const kAll =
      new std::vector<std::string>{kPending, kRunning, kPausing, kPaused, kResuming, kStopping, kTerminated, kFailed};
  return *kAll;
}

bool IsKnown(std::string_view state) { return std::find(All().begin(), All().end(), state) != All().end(); }

}  // namespace state

const std::vector<ActionRow>& LifecycleTable() {
  using A = Action;
  using V = ActionVerdict;
  // What docker has no words for (Pausing, Resuming, Stopping: its calls are synchronous) answers like any state that
  // is neither running nor paused. A paused docker container accepts connections and then says nothing, because the
  // kernel answers for the frozen process; the table calls that unreachable too, since no request gets through. A
  // scenario that wants the silence says so with an `ending`.
  static const auto* const kTable = new std::vector<ActionRow>{
      {state::kPending, A::kGet, V::kAllowed, ""},
      {state::kPending, A::kPause, V::kNotRunning, ""},
      {state::kPending, A::kResume, V::kNotPaused, ""},
      {state::kPending, A::kDelete, V::kAllowed, "deleted"},
      {state::kPending, A::kRenew, V::kAllowed, ""},
      {state::kPending, A::kRunCode, V::kUnreachable, ""},
      {state::kPending, A::kGetEndpoint, V::kAllowed, ""},
      {state::kPending, A::kPatchMetadata, V::kAllowed, ""},

      {state::kRunning, A::kGet, V::kAllowed, ""},
      {state::kRunning, A::kPause, V::kAllowed, state::kPaused},
      {state::kRunning, A::kResume, V::kNotPaused, ""},
      {state::kRunning, A::kDelete, V::kAllowed, "deleted"},
      {state::kRunning, A::kRenew, V::kAllowed, ""},
      {state::kRunning, A::kRunCode, V::kAllowed, ""},
      {state::kRunning, A::kGetEndpoint, V::kAllowed, ""},
      {state::kRunning, A::kPatchMetadata, V::kAllowed, ""},

      {state::kPausing, A::kGet, V::kAllowed, ""},
      {state::kPausing, A::kPause, V::kNotRunning, ""},
      {state::kPausing, A::kResume, V::kNotPaused, ""},
      {state::kPausing, A::kDelete, V::kAllowed, "deleted"},
      {state::kPausing, A::kRenew, V::kAllowed, ""},
      {state::kPausing, A::kRunCode, V::kUnreachable, ""},
      {state::kPausing, A::kGetEndpoint, V::kAllowed, ""},
      {state::kPausing, A::kPatchMetadata, V::kAllowed, ""},

      {state::kPaused, A::kGet, V::kAllowed, ""},
      {state::kPaused, A::kPause, V::kAlreadyPaused, ""},
      {state::kPaused, A::kResume, V::kAllowed, state::kRunning},
      {state::kPaused, A::kDelete, V::kAllowed, "deleted"},
      {state::kPaused, A::kRenew, V::kAllowed, ""},
      {state::kPaused, A::kRunCode, V::kUnreachable, ""},
      {state::kPaused, A::kGetEndpoint, V::kAllowed, ""},
      {state::kPaused, A::kPatchMetadata, V::kAllowed, ""},

      {state::kResuming, A::kGet, V::kAllowed, ""},
      {state::kResuming, A::kPause, V::kNotRunning, ""},
      {state::kResuming, A::kResume, V::kNotPaused, ""},
      {state::kResuming, A::kDelete, V::kAllowed, "deleted"},
      {state::kResuming, A::kRenew, V::kAllowed, ""},
      {state::kResuming, A::kRunCode, V::kUnreachable, ""},
      {state::kResuming, A::kGetEndpoint, V::kAllowed, ""},
      {state::kResuming, A::kPatchMetadata, V::kAllowed, ""},

      {state::kStopping, A::kGet, V::kAllowed, ""},
      {state::kStopping, A::kPause, V::kNotRunning, ""},
      {state::kStopping, A::kResume, V::kNotPaused, ""},
      {state::kStopping, A::kDelete, V::kAllowed, "deleted"},
      {state::kStopping, A::kRenew, V::kAllowed, ""},
      {state::kStopping, A::kRunCode, V::kUnreachable, ""},
      {state::kStopping, A::kGetEndpoint, V::kAllowed, ""},
      {state::kStopping, A::kPatchMetadata, V::kAllowed, ""},

      {state::kTerminated, A::kGet, V::kAllowed, ""},
      {state::kTerminated, A::kPause, V::kNotRunning, ""},
      {state::kTerminated, A::kResume, V::kNotPaused, ""},
      {state::kTerminated, A::kDelete, V::kAllowed, "deleted"},
      {state::kTerminated, A::kRenew, V::kAllowed, ""},
      {state::kTerminated, A::kRunCode, V::kUnreachable, ""},
      {state::kTerminated, A::kGetEndpoint, V::kAllowed, ""},
      {state::kTerminated, A::kPatchMetadata, V::kAllowed, ""},

      {state::kFailed, A::kGet, V::kAllowed, ""},
      {state::kFailed, A::kPause, V::kNotRunning, ""},
      {state::kFailed, A::kResume, V::kNotPaused, ""},
      {state::kFailed, A::kDelete, V::kAllowed, "deleted"},
      {state::kFailed, A::kRenew, V::kAllowed, ""},
      {state::kFailed, A::kRunCode, V::kUnreachable, ""},
      {state::kFailed, A::kGetEndpoint, V::kAllowed, ""},
      {state::kFailed, A::kPatchMetadata, V::kAllowed, ""},
  };
  return *kTable;
}

const ActionRow& LookUp(std::string_view state, Action action) {
  if (!state::IsKnown(state)) state = state::kPending;
  const auto& table = LifecycleTable();
  return *std::find_if(table.begin(), table.end(),
                       [&](const ActionRow& row) { return row.state == state && row.action == action; });
}

StatusText DefaultStatusText(std::string_view state) {
  // Wire reference 1.7: the docker table, and the Kubernetes words for the states that docker never shows.
  if (state == state::kPending) return {"CONTAINER_STARTING", "Sandbox container is starting."};
  if (state == state::kRunning) return {"CONTAINER_RUNNING", "Sandbox container is running."};
  if (state == state::kPausing) return {"PAUSING", "Pausing sandbox"};
  if (state == state::kPaused) return {"CONTAINER_PAUSED", "Sandbox container is paused."};
  if (state == state::kResuming) return {"RESUMING", "Resuming sandbox"};
  // No runtime sends Stopping; the words follow those of Pausing and Resuming.
  if (state == state::kStopping) return {"STOPPING", "Stopping sandbox"};
  if (state == state::kTerminated) return {"CONTAINER_EXITED", "Sandbox container exited successfully."};
  if (state == state::kFailed) return {"CONTAINER_EXITED_ERROR", "Sandbox container exited with code 1."};
  if (state == "Allocated") return {"IP_ASSIGNED", "Pod has IP assigned but not ready (1/1 allocated, 0 ready)"};
  return {"CONTAINER_STATE_UNKNOWN", "Sandbox container is in state '" + std::string(state) + "'."};
}

}  // namespace opensandbox::emulator

// Runs the code of models that ask for OpenAI's code_interpreter in sandboxes of the host's own.
#ifndef OPENSANDBOX_INTERCEPTION_INTERCEPTION_HANDLER_H_
#define OPENSANDBOX_INTERCEPTION_INTERCEPTION_HANDLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "opensandbox/interception/model_request.h"
#include "opensandbox/interception/tool_output.h"
#include "opensandbox/providers/leak_sink.h"
#include "opensandbox/providers/tool_registry.h"

namespace opensandbox {

// A sandbox together with what it was made with. The two stay one pair from create to delete, so a new registration of
// tools in between does no harm.
struct PairedSandbox {
  SandboxHandle handle{};
  std::shared_ptr<SandboxProvider> provider{};  // null: none that could run or delete it
  std::shared_ptr<const SandboxTool> tool{};    // null: made by InterceptionOptions::sandbox_config, or elsewhere
};

// What happens when a sandbox cannot be created or fails (not: when the code raises).
enum class SandboxFailurePolicy {
  kTellModel,    // the call's output is "[sandbox error] ..." and the loop goes on
  kFailRequest,  // the request fails with the sandbox's error
};

enum class LoopLimitPolicy {
  kFinalAnswer,  // one more call of the model, without the tool
  kFailRequest,  // kInvalidArgument with the contract's text
};

struct InterceptionOptions {
  bool enabled = true;
  std::optional<std::set<std::string>> enabled_providers{};  // of models; absent: all

  // Where sandboxes come from: `sandbox_config` if it is set, else the registry's tool of that name, made by the
  // directory's provider. A name is resolved once per sandbox.
  std::shared_ptr<SandboxProvider> sandbox_config{};
  SandboxToolParams sandbox_config_params{};  // settings for `sandbox_config`; its provider, key and base may be empty
  std::shared_ptr<const SandboxToolRegistry> registry{};
  std::shared_ptr<const ProviderDirectory> providers{};
  std::optional<std::string> sandbox_tool_name{};
  // Instead of all this: sandboxes made elsewhere, e.g. taken from a pool. Deleted like the others.
  std::function<Result<PairedSandbox>(std::stop_token stop)> create_sandbox{};

  int max_agentic_loops = 3;  // follow-ups to the model per request; at least 1
  LoopLimitPolicy at_loop_limit = LoopLimitPolicy::kFinalAnswer;
  SandboxFailurePolicy on_sandbox_failure = SandboxFailurePolicy::kTellModel;
  ToolOutputOptions tool_output{};

  // Sessions: requests whose metadata (or litellm_metadata) hold a `session_id` share a sandbox per identity and
  // session.
  Duration session_idle_timeout = std::chrono::seconds(900);  // since the last use
  std::size_t sessions_per_identity_max = 10;                 // beyond: the least recently used idle one is deleted
  Duration session_slot_wait = std::chrono::seconds(30);      // when all of them are in use
  // Lifetime asked for (and renewed to) for a session's sandbox; at least the idle timeout and a minute are used.
  Duration session_lifetime = std::chrono::seconds(960);
  bool prune_in_background = true;  // a thread that sleeps until the next session is due; false: see Prune()

  LeakSink* leak_sink = nullptr;  // told of what could not be deleted; null: the provider's own is. Must outlive this
  Clock* clock = nullptr;         // null: real time. Must outlive this
  std::uint64_t seed = 0;         // of the ids of calls; 0: drawn from the system
};

// One request on its way. Owns the request's sandbox, unless that belongs to a session, and deletes it at the end of
// its scope, whatever happens. Movable; not thread-safe; must not outlive its handler.
class InterceptedRequest {
 public:
  InterceptedRequest(InterceptedRequest&&) noexcept;
  InterceptedRequest& operator=(InterceptedRequest&&) noexcept;
  ~InterceptedRequest();

  // The body to send to the model now.
  const std::string& json() const;
  bool intercepted() const;
  bool stream_requested() const;
  bool stream_usage_requested() const;
  bool session_scoped() const;
  bool session_state_lost() const;
  int follow_ups() const;
  const std::vector<CodeInterpreterCall>& calls() const;

 private:
  friend class InterceptionHandler;
  struct State;
  explicit InterceptedRequest(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// For hosts: RunAgenticLoop() is the whole of it. The single steps, for a host with a loop of its own:
//   auto request = handler.PreCall(...);                  // body without code_interpreter
//   for (;;) {
//     response = send(request->json());
//     auto calls = handler.FindToolCalls(*request, response);
//     if (calls->empty()) break;
//     handler.BuildFollowUp(*request, response);          // runs the code; request->json() is the next body
//   }
//   handler.Finish(*request, response);                   // the client's answer, records included
// Thread-safe. Must outlive its requests; the destructor deletes the sandboxes of all sessions.
// What is done differently from litellm's handler: docs/litellm-differences.md, W7 to W13 and W50 to W61.
class InterceptionHandler {
 public:
  explicit InterceptionHandler(InterceptionOptions options);
  ~InterceptionHandler();
  InterceptionHandler(const InterceptionHandler&) = delete;
  InterceptionHandler& operator=(const InterceptionHandler&) = delete;

  // Calls the model, runs the code it asks for, tells it the output, and so on until it answers. Errors: those of
  // `call_model` as they are; kInvalidArgument for a body that is no JSON object, for settings that don't work (the
  // contract's "CodeInterpreterInterception: no sandbox available..." among them); kProtocol for an answer of the model
  // that is no JSON object; kCancelled; by policy those of the sandbox and the loop's guards.
  Result<LoopResult> RunAgenticLoop(const ModelRequest& request, const CallModel& call_model);

  // Removes control fields that only a proxy may set. If the request has a code_interpreter tool and interception
  // applies: puts the function tool in its place, in the tool choice too, and turns streaming off.
  Result<InterceptedRequest> PreCall(const ModelRequest& request);
  // The calls of the stand-in tool; none if the request was not intercepted.
  Result<std::vector<ToolCall>> FindToolCalls(const InterceptedRequest& request, const std::string& response_json);
  // Runs them one after the other in the request's (or session's) sandbox, and makes the body that continues the
  // conversation. kInvalidArgument from the guards: "Exceeded max_agentic_loops={n} for model={model}" and "Agentic
  // loop detected repeated tool-call fingerprint; aborting rerun"; nothing was run then.
  Result<void> BuildFollowUp(InterceptedRequest& request, const std::string& response_json);
  // The same, but the calls are answered with `reason` instead of being run, and the tool is taken away.
  Result<void> BuildLastFollowUp(InterceptedRequest& request, const std::string& response_json,
                                 const std::string& reason);
  // The client's answer: without calls of the stand-in tool, with the records of what was run. Deletes the request's
  // sandbox.
  Result<std::string> Finish(InterceptedRequest& request, const std::string& response_json);

  // Deletes the sandboxes of sessions that nobody used for the idle timeout; returns how many.
  std::size_t Prune();
  // Deletes the sandboxes of all sessions that are not in use; returns how many.
  std::size_t DeleteIdleSessions();
  std::size_t sessions_count() const;

 private:
  friend class InterceptedRequest;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_INTERCEPTION_INTERCEPTION_HANDLER_H_

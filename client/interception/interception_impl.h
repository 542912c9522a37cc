// The interception handler; its parts stand in interception_handler.cc, agentic_loop.cc and sandbox_runs.cc.
#ifndef OPENSANDBOX_CLIENT_INTERCEPTION_INTERCEPTION_IMPL_H_
#define OPENSANDBOX_CLIENT_INTERCEPTION_INTERCEPTION_IMPL_H_

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/interception/model_json.h"
#include "client/interception/session_pool.h"
#include "opensandbox/base/random.h"
#include "opensandbox/interception/interception_handler.h"

namespace opensandbox {

struct InterceptedRequest::State {
  explicit State(InterceptionHandler::Impl* handler) : impl(handler) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  InterceptionHandler::Impl* const impl;
  RequestShape shape = RequestShape::kResponses;
  std::stop_token stop;
  internal::RewrittenRequest rewritten;  // its json is the next body
  std::optional<internal::SessionKey> session;
  std::set<std::string> fingerprints;
  int follow_ups = 0;
  std::vector<CodeInterpreterCall> calls;
  bool session_state_lost = false;
  internal::SandboxSlot slot;                     // of a request without a session
  std::optional<internal::SessionPool::Pin> pin;  // of one with
};

class InterceptionHandler::Impl {
 public:
  using State = InterceptedRequest::State;

  explicit Impl(InterceptionOptions options);

  // --- interception_handler.cc ---
  Result<std::unique_ptr<State>> PreCall(const ModelRequest& request);
  Result<internal::ModelTurn> ReadTurn(const State& state, const std::string& response_json) const;
  // A guard that ends the loop before another follow-up. Nothing is changed.
  std::optional<Error> Guard(const State& state, const internal::ModelTurn& turn) const;
  Result<void> FollowUp(State& state, const internal::ModelTurn& turn, const std::string& response_json);
  Result<void> LastFollowUp(State& state, const internal::ModelTurn& turn, const std::string& response_json,
                            const std::string& reason);
  Result<std::string> Finish(State& state, const std::string& response_json);
  // Deletes the request's own sandbox, lets go of the session's.
  void Release(State& state);

  // --- agentic_loop.cc ---
  Result<LoopResult> RunLoop(const ModelRequest& request, const CallModel& call_model);

  // --- sandbox_runs.cc ---
  // One output per call of the turn, in order. Fails as InterceptionHandler::RunAgenticLoop tells.
  Result<std::vector<internal::AnsweredCall>> RunCalls(State& state, const internal::ModelTurn& turn);
  void Delete(const PairedSandbox& sandbox) noexcept;

  internal::SessionPool& sessions() { return sessions_; }

 private:
  // Of a request's (or session's) slot.
  struct RunContext {
    State& state;
    internal::SandboxSlot& slot;
    internal::SessionPool::Lock* session = nullptr;  // null: the slot is the request's own
    bool looked_at = false;                          // its sandbox was renewed, or made, in this turn
    bool replaced = false;
    std::optional<Error> create_failure;  // of this turn: its other calls don't wait for the same
  };

  std::string NewId();
  bool Allows(const ModelRequest& request) const;
  internal::AnsweredCall Answer(RunContext& context, const ToolCall& call, std::optional<Error>& fatal);
  Result<CodeExecutionResult> RunOnce(RunContext& context, const std::string& code);
  Result<CodeExecutionResult> Run(const PairedSandbox& sandbox, const std::string& code, const std::stop_token& stop);
  // Afterwards the slot holds a sandbox that should live for a while.
  Result<void> EnsureSandbox(RunContext& context);
  Result<void> Create(RunContext& context);
  Result<PairedSandbox> CreatePair(const std::optional<int>& timeout_seconds_min, const std::stop_token& stop,
                                   int& timeout_seconds);
  // False: its sandbox has ended, or soon will.
  Result<bool> KeepAlive(RunContext& context);
  void Drop(RunContext& context);
  bool IsFatal(const Error& error) const;
  const SandboxToolParams& ParamsOf(const PairedSandbox& sandbox) const;
  std::shared_ptr<SandboxProvider> ProviderOf(const PairedSandbox& sandbox) const;
  Duration SessionLifetime() const;

  const InterceptionOptions options_;
  Clock& clock_;
  std::mutex random_mutex_;
  SeededRandom random_;
  internal::SessionPool sessions_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_CLIENT_INTERCEPTION_INTERCEPTION_IMPL_H_

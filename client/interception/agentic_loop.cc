#include <utility>

#include "client/interception/interception_impl.h"

namespace opensandbox {

Result<LoopResult> InterceptionHandler::Impl::RunLoop(const ModelRequest& request, const CallModel& call_model) {
  Result<std::unique_ptr<State>> pre_call = PreCall(request);
  if (!pre_call) return std::move(pre_call).error();
  State& state = **pre_call;  // its end deletes the sandbox, whichever way this function is left
  LoopResult result;
  const auto ask = [&]() -> Result<std::string> {
    if (request.stop.stop_requested()) {
      Error cancelled;
      cancelled.kind = ErrorKind::kCancelled;
      cancelled.message = "The request was cancelled.";
      return cancelled;
    }
    ++result.model_calls;
    return call_model(state.rewritten.json, request.stop);
  };
  const auto finish = [&](LoopEnd end, const std::string& response) -> Result<LoopResult> {
    Result<std::string> answer = Finish(state, response);
    if (!answer) return std::move(answer).error();
    result.response_json = *std::move(answer);
    result.end = end;
    result.calls = std::move(state.calls);
    result.stream_requested = state.rewritten.stream_requested;
    result.stream_usage_requested = state.rewritten.stream_usage_requested;
    result.session_state_lost = state.session_state_lost;
    return std::move(result);
  };

  for (;;) {
    Result<std::string> response = ask();
    if (!response) return std::move(response).error();
    if (!state.rewritten.intercepted) return finish(LoopEnd::kNotIntercepted, *response);
    const Result<internal::ModelTurn> turn = ReadTurn(state, *response);
    if (!turn) return turn.error();
    if (turn->calls.empty()) return finish(LoopEnd::kAnswer, *response);
    if (turn->has_client_calls) {
      // The client has to act before the model can go on; what the model also asked of us is done and recorded.
      Result<std::vector<internal::AnsweredCall>> answers = RunCalls(state, *turn);
      if (!answers) return std::move(answers).error();
      return finish(LoopEnd::kHandedBack, *response);
    }
    if (std::optional<Error> guard = Guard(state, *turn)) {
      if (options_.at_loop_limit == LoopLimitPolicy::kFailRequest) return *std::move(guard);
      result.loop_limit = guard->message;
      const Result<void> last = LastFollowUp(state, *turn, *response, "no more code can be run for this request");
      if (!last) return last.error();
      response = ask();
      if (!response) return std::move(response).error();
      return finish(LoopEnd::kLoopLimit, *response);
    }
    if (const Result<void> next = FollowUp(state, *turn, *response); !next) return next.error();
  }
}

}  // namespace opensandbox

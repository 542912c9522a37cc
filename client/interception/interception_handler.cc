#include "opensandbox/interception/interception_handler.h"

#include <random>
#include <utility>

#include "client/interception/interception_impl.h"

namespace opensandbox {
namespace {

std::uint64_t DrawSeed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

Error InvalidArgument(std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.message = std::move(message);
  return error;
}

}  // namespace

std::string_view ToString(LoopEnd end) {
  switch (end) {
    case LoopEnd::kNotIntercepted:
      return "not_intercepted";
    case LoopEnd::kAnswer:
      return "answer";
    case LoopEnd::kHandedBack:
      return "handed_back";
    case LoopEnd::kLoopLimit:
      return "loop_limit";
  }
  return "unknown";
}

// --- the request
// ------------------------------------------------------------------------------------------------------

InterceptedRequest::State::~State() { impl->Release(*this); }

InterceptedRequest::InterceptedRequest(std::unique_ptr<State> state) : state_(std::move(state)) {}
InterceptedRequest::InterceptedRequest(InterceptedRequest&&) noexcept = default;
InterceptedRequest& InterceptedRequest::operator=(InterceptedRequest&&) noexcept = default;
InterceptedRequest::~InterceptedRequest() = default;

const std::string& InterceptedRequest::json() const { return state_->rewritten.json; }
bool InterceptedRequest::intercepted() const { return state_->rewritten.intercepted; }
bool InterceptedRequest::stream_requested() const { return state_->rewritten.stream_requested; }
bool InterceptedRequest::stream_usage_requested() const { return state_->rewritten.stream_usage_requested; }
bool InterceptedRequest::session_scoped() const { return state_->session.has_value(); }
bool InterceptedRequest::session_state_lost() const { return state_->session_state_lost; }
int InterceptedRequest::follow_ups() const { return state_->follow_ups; }
const std::vector<CodeInterpreterCall>& InterceptedRequest::calls() const { return state_->calls; }

// --- the handler
// ------------------------------------------------------------------------------------------------------

InterceptionHandler::InterceptionHandler(InterceptionOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

InterceptionHandler::~InterceptionHandler() = default;

Result<LoopResult> InterceptionHandler::RunAgenticLoop(const ModelRequest& request, const CallModel& call_model) {
  return impl_->RunLoop(request, call_model);
}

Result<InterceptedRequest> InterceptionHandler::PreCall(const ModelRequest& request) {
  Result<std::unique_ptr<InterceptedRequest::State>> state = impl_->PreCall(request);
  if (!state) return std::move(state).error();
  return InterceptedRequest(*std::move(state));
}

Result<std::vector<ToolCall>> InterceptionHandler::FindToolCalls(const InterceptedRequest& request,
                                                                 const std::string& response_json) {
  Result<internal::ModelTurn> turn = impl_->ReadTurn(*request.state_, response_json);
  if (!turn) return std::move(turn).error();
  return std::move(turn->calls);
}

Result<void> InterceptionHandler::BuildFollowUp(InterceptedRequest& request, const std::string& response_json) {
  Result<internal::ModelTurn> turn = impl_->ReadTurn(*request.state_, response_json);
  if (!turn) return std::move(turn).error();
  if (std::optional<Error> guard = impl_->Guard(*request.state_, *turn)) return *std::move(guard);
  return impl_->FollowUp(*request.state_, *turn, response_json);
}

Result<void> InterceptionHandler::BuildLastFollowUp(InterceptedRequest& request, const std::string& response_json,
                                                    const std::string& reason) {
  Result<internal::ModelTurn> turn = impl_->ReadTurn(*request.state_, response_json);
  if (!turn) return std::move(turn).error();
  return impl_->LastFollowUp(*request.state_, *turn, response_json, reason);
}

Result<std::string> InterceptionHandler::Finish(InterceptedRequest& request, const std::string& response_json) {
  return impl_->Finish(*request.state_, response_json);
}

std::size_t InterceptionHandler::Prune() { return impl_->sessions().Prune(); }
std::size_t InterceptionHandler::DeleteIdleSessions() { return impl_->sessions().DeleteIdle(); }
std::size_t InterceptionHandler::sessions_count() const { return impl_->sessions().size(); }

// --- its steps
// --------------------------------------------------------------------------------------------------------

InterceptionHandler::Impl::Impl(InterceptionOptions options)
    : options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : SystemClock::Instance()),
      random_(SeededRandom::ForPurpose(options_.seed != 0 ? options_.seed : DrawSeed(), "interception-ids")),
      sessions_({options_.session_idle_timeout, options_.sessions_per_identity_max, options_.session_slot_wait,
                 options_.prune_in_background},
                clock_, [this](const PairedSandbox& sandbox) { Delete(sandbox); }) {}

bool InterceptionHandler::Impl::Allows(const ModelRequest& request) const {
  if (!options_.enabled) return false;
  if (!options_.enabled_providers) return true;
  const std::string provider =
      request.model_provider.empty() ? internal::ProviderOfModel(request.json) : request.model_provider;
  return options_.enabled_providers->count(provider) > 0;
}

Result<std::unique_ptr<InterceptedRequest::State>> InterceptionHandler::Impl::PreCall(const ModelRequest& request) {
  if (options_.max_agentic_loops < 1) {
    return InvalidArgument("litellm_params.max_agentic_loops must be at least 1, got " +
                           std::to_string(options_.max_agentic_loops));
  }
  Result<internal::RewrittenRequest> rewritten = internal::RewriteRequest(request.shape, request.json, Allows(request));
  if (!rewritten) return std::move(rewritten).error();
  auto state = std::make_unique<State>(this);
  state->shape = request.shape;
  state->stop = request.stop;
  state->rewritten = *std::move(rewritten);
  if (state->rewritten.intercepted && !state->rewritten.session_id.empty()) {
    state->session = {request.identity, state->rewritten.session_id};
  }
  return state;
}

Result<internal::ModelTurn> InterceptionHandler::Impl::ReadTurn(const State& state,
                                                                const std::string& response_json) const {
  if (!state.rewritten.intercepted) return internal::ModelTurn{};
  Result<internal::ModelTurn> turn = internal::ReadTurn(state.shape, response_json);
  if (!turn) return turn;
  // Deterministic, so that the same answer read twice names the same calls.
  int number = 0;
  for (ToolCall& call : turn->calls) {
    ++number;
    if (!call.call_id.empty()) continue;
    call.call_id = "call_" + std::to_string(state.follow_ups + 1) + "_" + std::to_string(number);
  }
  return turn;
}

std::optional<Error> InterceptionHandler::Impl::Guard(const State& state, const internal::ModelTurn& turn) const {
  if (state.fingerprints.count(turn.fingerprint) > 0) {
    return InvalidArgument("Agentic loop detected repeated tool-call fingerprint; aborting rerun");
  }
  if (state.follow_ups >= options_.max_agentic_loops) {
    return InvalidArgument("Exceeded max_agentic_loops=" + std::to_string(options_.max_agentic_loops) +
                           " for model=" + state.rewritten.model);
  }
  return std::nullopt;
}

Result<void> InterceptionHandler::Impl::FollowUp(State& state, const internal::ModelTurn& turn,
                                                 const std::string& response_json) {
  Result<std::vector<internal::AnsweredCall>> answers = RunCalls(state, turn);
  if (!answers) return std::move(answers).error();
  Result<std::string> next = internal::FollowUpRequest(state.shape, state.rewritten.json, response_json, *answers,
                                                       /*withhold_tool=*/false);
  if (!next) return std::move(next).error();
  state.rewritten.json = *std::move(next);
  state.fingerprints.insert(turn.fingerprint);
  ++state.follow_ups;
  return {};
}

Result<void> InterceptionHandler::Impl::LastFollowUp(State& state, const internal::ModelTurn& turn,
                                                     const std::string& response_json, const std::string& reason) {
  std::vector<internal::AnsweredCall> answers;
  for (const ToolCall& call : turn.calls) answers.push_back({call, "[not run: " + reason + "]"});
  Result<std::string> next = internal::FollowUpRequest(state.shape, state.rewritten.json, response_json, answers,
                                                       /*withhold_tool=*/true);
  if (!next) return std::move(next).error();
  state.rewritten.json = *std::move(next);
  ++state.follow_ups;
  return {};
}

Result<std::string> InterceptionHandler::Impl::Finish(State& state, const std::string& response_json) {
  Release(state);
  if (!state.rewritten.intercepted) return response_json;
  return internal::FinalResponse(state.shape, response_json, state.calls);
}

void InterceptionHandler::Impl::Release(State& state) {
  if (state.slot.sandbox) Delete(*state.slot.sandbox);
  state.slot = {};
  state.pin.reset();
}

std::string InterceptionHandler::Impl::NewId() {
  const std::lock_guard lock(random_mutex_);
  std::string id = "ci_";
  for (int word = 0; word < 2; ++word) {
    std::uint64_t bits = random_.Next();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4) id += "0123456789abcdef"[bits & 15];
  }
  return id;
}

}  // namespace opensandbox

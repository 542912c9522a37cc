// The part of the interception handler that deals with sandboxes.
#include <algorithm>
#include <limits>
#include <utility>

#include "client/interception/interception_impl.h"
#include "opensandbox/providers/sandbox_renewal.h"

namespace opensandbox {
namespace {

// A sandbox that has less than this to live is not given code any more.
constexpr Duration kLifetimeLeftMin = std::chrono::seconds(30);
// The default lifetime of both providers, when a tool names none.
constexpr int kDefaultTimeoutSeconds = 300;
constexpr std::string_view kReplacedNotice =
    "[the sandbox had ended and was replaced; what earlier code left in it is lost]\n";

constexpr char kNoSandboxToCreate[] =
    "CodeInterpreterInterception: no sandbox available. Provide a sandbox_config or configure a sandbox tool "
    "resolvable "
    "via sandbox_tool_name.";
constexpr char kNoSandboxToRun[] = "CodeInterpreterInterception: no sandbox available to run code.";
// Marks errors of the configuration, which no other call will mend, in Error::code.
constexpr char kConfigurationCode[] = "INTERCEPTION::CONFIGURATION";

Error ConfigurationError(std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.code = kConfigurationCode;
  error.message = std::move(message);
  return error;
}

bool HasEnded(const Error& error) {
  return error.kind == ErrorKind::kSandboxGone || error.kind == ErrorKind::kTerminalState;
}

}  // namespace

Result<std::vector<internal::AnsweredCall>> InterceptionHandler::Impl::RunCalls(State& state,
                                                                                const internal::ModelTurn& turn) {
  std::vector<internal::AnsweredCall> answers;
  const bool needs_sandbox =
      std::any_of(turn.calls.begin(), turn.calls.end(), [](const ToolCall& call) { return call.code.has_value(); });
  std::optional<internal::SessionPool::Lock> lock;
  std::optional<Error> no_session;
  std::optional<Error> fatal;
  if (needs_sandbox && state.session) {
    if (!state.pin) {
      Result<internal::SessionPool::Pin> pin = sessions_.Acquire(*state.session, state.stop);
      if (pin) {
        state.pin = *std::move(pin);
      } else {
        no_session = std::move(pin).error();
      }
    }
    if (state.pin) {
      Result<internal::SessionPool::Lock> locked = sessions_.Use(*state.pin, state.stop);
      if (locked) {
        lock.emplace(*std::move(locked));
      } else {
        no_session = std::move(locked).error();
      }
    }
    if (no_session && IsFatal(*no_session)) return *std::move(no_session);
  }
  RunContext context{state, lock ? lock->slot() : state.slot, lock ? &*lock : nullptr, false, false, std::nullopt};
  for (const ToolCall& call : turn.calls) {
    if (no_session && call.code) {
      answers.push_back({call, ToolOutputText(*no_session, options_.tool_output)});
      state.calls.push_back({NewId(), call.call_id, *call.code, "", answers.back().output, true});
      continue;
    }
    answers.push_back(Answer(context, call, fatal));
    if (fatal) return *std::move(fatal);
  }
  return answers;
}

internal::AnsweredCall InterceptionHandler::Impl::Answer(RunContext& context, const ToolCall& call,
                                                         std::optional<Error>& fatal) {
  if (!call.code) return {call, std::string(kInvalidToolArguments)};
  const bool was_replaced = context.replaced;
  const Result<CodeExecutionResult> result = RunOnce(context, *call.code);
  CodeInterpreterCall record;
  record.call_id = call.call_id;
  record.code = *call.code;
  if (context.slot.sandbox) record.container_id = context.slot.sandbox->handle.id;
  if (result) {
    record.output = ToolOutputText(*result, options_.tool_output);
  } else if (IsFatal(result.error())) {
    fatal = result.error();
    return {call, ""};
  } else {
    record.failed = true;
    if (record.container_id.empty()) record.container_id = result.error().sandbox_id;
    record.output = ToolOutputText(result.error(), options_.tool_output);
  }
  if (context.replaced && !was_replaced) record.output.insert(0, kReplacedNotice);
  record.id = NewId();
  internal::AnsweredCall answer{call, record.output};
  context.state.calls.push_back(std::move(record));
  return answer;
}

// Runs the code, in another sandbox if the one at hand has ended and certainly did not run it.
Result<CodeExecutionResult> InterceptionHandler::Impl::RunOnce(RunContext& context, const std::string& code) {
  for (bool again = false;; again = true) {
    if (Result<void> ready = EnsureSandbox(context); !ready) return std::move(ready).error();
    Result<CodeExecutionResult> result = Run(*context.slot.sandbox, code, context.state.stop);
    if (result || !HasEnded(result.error())) return result;
    const bool certainly_not_run = result.error().outcome == Outcome::kDidNotHappen;
    result.error().sandbox_id = context.slot.sandbox->handle.id;
    Drop(context);
    if (again || !certainly_not_run) return result;
  }
}

Result<CodeExecutionResult> InterceptionHandler::Impl::Run(const PairedSandbox& sandbox, const std::string& code,
                                                           const std::stop_token& stop) {
  const std::shared_ptr<SandboxProvider> provider = ProviderOf(sandbox);
  if (provider == nullptr) return ConfigurationError(kNoSandboxToRun);
  return provider->RunCode(sandbox.handle, ParamsOf(sandbox).RunRequest(code, stop));
}

Result<void> InterceptionHandler::Impl::EnsureSandbox(RunContext& context) {
  if (context.slot.sandbox && !context.looked_at) {
    Result<bool> alive = KeepAlive(context);
    if (!alive) return std::move(alive).error();
    if (!*alive) Drop(context);
  }
  context.looked_at = true;
  if (context.slot.sandbox) return {};
  if (context.create_failure) return *context.create_failure;
  Result<void> created = Create(context);
  if (!created) {
    context.create_failure = created.error();
    if (context.session != nullptr && created.error().kind != ErrorKind::kCancelled) {
      context.session->NoteFailure(created.error());
    }
  }
  return created;
}

Result<bool> InterceptionHandler::Impl::KeepAlive(RunContext& context) {
  internal::SandboxSlot& slot = context.slot;
  const TimePoint now = clock_.Now();
  const auto lives = [&] { return !slot.expires_at || *slot.expires_at - now >= kLifetimeLeftMin; };
  const std::shared_ptr<SandboxProvider> provider = ProviderOf(*slot.sandbox);
  auto* renewal = dynamic_cast<SandboxRenewal*>(provider.get());
  if (renewal == nullptr) return lives();
  const SandboxToolParams& params = ParamsOf(*slot.sandbox);
  const Duration lifetime = context.session != nullptr
                                ? SessionLifetime()
                                : std::chrono::seconds(params.timeout_seconds.value_or(kDefaultTimeoutSeconds));
  // A request's own sandbox is renewed when half of its life is over; a session's at every turn that uses it, which
  // also tells whether it still lives.
  if (context.session == nullptr && slot.renewed_at && now - *slot.renewed_at < lifetime / 2) return lives();
  RenewSandboxRequest request;
  request.lifetime = lifetime;
  request.api_key = params.api_key;
  request.api_base = params.api_base;
  request.stop = context.state.stop;
  Result<void> renewed = renewal->RenewSandbox(slot.sandbox->handle, request);
  if (renewed) {
    slot.renewed_at = now;
    slot.expires_at = now + lifetime;
    return true;
  }
  if (renewed.error().kind == ErrorKind::kCancelled) return std::move(renewed).error();
  return !HasEnded(renewed.error()) && lives();
}

Result<void> InterceptionHandler::Impl::Create(RunContext& context) {
  std::optional<int> timeout_seconds_min;
  if (context.session != nullptr) {
    timeout_seconds_min = static_cast<int>(std::chrono::ceil<std::chrono::seconds>(SessionLifetime()).count());
  }
  int timeout_seconds = 0;
  const TimePoint now = clock_.Now();  // a lifetime begins when the provider gets the request
  Result<PairedSandbox> created = CreatePair(timeout_seconds_min, context.state.stop, timeout_seconds);
  if (!created) return std::move(created).error();
  context.slot.sandbox = *std::move(created);
  context.slot.renewed_at = now;
  context.slot.expires_at.reset();
  if (timeout_seconds > 0) context.slot.expires_at = now + std::chrono::seconds(timeout_seconds);
  return {};
}

Result<PairedSandbox> InterceptionHandler::Impl::CreatePair(const std::optional<int>& timeout_seconds_min,
                                                            const std::stop_token& stop, int& timeout_seconds) {
  if (options_.create_sandbox) return options_.create_sandbox(stop);
  PairedSandbox sandbox;
  if (options_.sandbox_config != nullptr) {
    sandbox.provider = options_.sandbox_config;
  } else {
    if (options_.registry != nullptr && options_.sandbox_tool_name) {
      sandbox.tool = options_.registry->Resolve(*options_.sandbox_tool_name);
    }
    if (sandbox.tool == nullptr || options_.providers == nullptr) return ConfigurationError(kNoSandboxToCreate);
    Result<std::shared_ptr<SandboxProvider>> provider = options_.providers->Find(sandbox.tool->params.sandbox_provider);
    if (!provider) {
      provider.error().code = kConfigurationCode;
      return std::move(provider).error();
    }
    sandbox.provider = *std::move(provider);
  }
  CreateSandboxRequest request = ParamsOf(sandbox).CreateRequest(stop);
  timeout_seconds = request.timeout_seconds.value_or(kDefaultTimeoutSeconds);
  if (timeout_seconds_min) {
    timeout_seconds = std::max(timeout_seconds, *timeout_seconds_min);
    request.timeout_seconds = timeout_seconds;
  }
  Result<SandboxHandle> handle = sandbox.provider->CreateSandbox(request);
  if (!handle) return std::move(handle).error();
  sandbox.handle = *std::move(handle);
  return sandbox;
}

// It may have ended by itself; a failed one still has to be deleted.
void InterceptionHandler::Impl::Drop(RunContext& context) {
  Delete(*context.slot.sandbox);
  context.slot = {};
  context.replaced = true;
  context.state.session_state_lost = true;
}

void InterceptionHandler::Impl::Delete(const PairedSandbox& sandbox) noexcept {
  try {
    const std::string& id = sandbox.handle.id;
    const std::shared_ptr<SandboxProvider> provider = ProviderOf(sandbox);
    if (provider == nullptr) {
      if (options_.leak_sink == nullptr) return;
      options_.leak_sink->OnLeak({sandbox.handle.provider, id, "", "no provider is known that could delete it"});
      return;
    }
    DeleteSandboxRequest request = ParamsOf(sandbox).DeleteRequest();
    request.report_leak = options_.leak_sink == nullptr;
    const Result<bool> deleted = provider->DeleteSandbox(sandbox.handle, request);
    if (!deleted && options_.leak_sink != nullptr) {
      options_.leak_sink->OnLeak({sandbox.handle.provider, id, "", deleted.error().Describe()});
    }
  } catch (const std::exception&) {
    // Out of memory, or a provider or sink of the user's that throws: a clean-up has nobody to tell.
  }
}

bool InterceptionHandler::Impl::IsFatal(const Error& error) const {
  return error.kind == ErrorKind::kCancelled || error.code == kConfigurationCode ||
         options_.on_sandbox_failure == SandboxFailurePolicy::kFailRequest;
}

const SandboxToolParams& InterceptionHandler::Impl::ParamsOf(const PairedSandbox& sandbox) const {
  return sandbox.tool != nullptr ? sandbox.tool->params : options_.sandbox_config_params;
}

std::shared_ptr<SandboxProvider> InterceptionHandler::Impl::ProviderOf(const PairedSandbox& sandbox) const {
  return sandbox.provider != nullptr ? sandbox.provider : options_.sandbox_config;
}

Duration InterceptionHandler::Impl::SessionLifetime() const {
  return std::max<Duration>(options_.session_lifetime, options_.session_idle_timeout + std::chrono::minutes(1));
}

}  // namespace opensandbox

#include "emulator/runner/client_session.h"

#include <utility>

#include "opensandbox/base/random.h"
#include "opensandbox/providers/opensandbox_provider.h"
#include "opensandbox/transport/httplib_transport.h"

namespace opensandbox::emulator {
namespace {

StepOutcome Failed(Error error) {
  StepOutcome outcome;
  outcome.error = std::move(error);
  return outcome;
}

StepOutcome NoSandbox() {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.message = "there is no sandbox: no create step has succeeded before";
  return Failed(std::move(error));
}

StepOutcome FromExecution(Result<CodeExecutionResult> result) {
  if (!result) return Failed(std::move(result).error());
  StepOutcome outcome;
  outcome.execution = *std::move(result);
  return outcome;
}

CreateSandboxRequest MakeRequest(const CreateStep& step, std::stop_token stop) {
  CreateSandboxRequest request;
  request.image = step.image;
  // The API counts whole seconds; a part of a second is rounded up, so that a lifetime never becomes shorter.
  if (step.timeout) {
    request.timeout_seconds = static_cast<int>(std::chrono::ceil<std::chrono::seconds>(*step.timeout).count());
  }
  request.ready_timeout = step.ready_timeout;
  request.metadata = step.metadata;
  request.stop = std::move(stop);
  return request;
}

RunCodeRequest MakeRequest(const RunStep& step, std::stop_token stop) {
  RunCodeRequest request;
  request.code = step.code;
  request.language = step.language;
  request.run_deadline = step.deadline;
  request.idle_timeout = step.idle_timeout;
  request.output_bytes_max = step.output_bytes_max;
  request.stop = std::move(stop);
  return request;
}

}  // namespace

std::string ClientSession::WhyUnsupported(const ClientSettings& settings) {
  if (settings.provider != "opensandbox") return "the client provider \"" + settings.provider + "\" does not exist yet";
  return "";
}

ClientSession::ClientSession(const ClientSessionOptions& options) : clock_(*options.clock) {
  HttplibTransportOptions transport_options;
  transport_options.clock = options.clock;
  OpenSandboxProviderOptions provider_options;
  provider_options.api_base = options.api_base;
  provider_options.api_key = options.api_key;
  provider_options.transport = MakeHttplibTransport(transport_options);
  if (options.settings.retry_attempts_max) provider_options.retry.attempts_max = *options.settings.retry_attempts_max;
  provider_options.lost_create =
      options.settings.lost_create == "adopt" ? LostCreatePolicy::kAdopt : LostCreatePolicy::kDelete;
  // Any draw but 0, which would mean "from the system".
  provider_options.seed = SeededRandom::ForPurpose(options.seed, "client").Next() | 1;
  provider_options.leak_sink = &leaks_;
  // A scenario means the same on every machine: nothing of the caller's environment gets in.
  provider_options.getenv = [](const std::string&) { return std::optional<std::string>(); };
  provider_ = MakeOpenSandboxProvider(std::move(provider_options));
}

StepOutcome ClientSession::Take(const ClientStep& step, std::stop_token stop) {
  struct Visitor {
    ClientSession& session;
    std::stop_token stop;
    StepOutcome operator()(const CreateStep& s) { return session.Create(s, stop); }
    StepOutcome operator()(const RunStep& s) { return session.Run(s, stop); }
    StepOutcome operator()(const DeleteStep& s) { return session.Delete(s, stop); }
    StepOutcome operator()(const WaitStep& s) { return session.Wait(s, stop); }
    StepOutcome operator()(const EphemeralStep& s) { return session.Ephemeral(s, stop); }
  };
  return std::visit(Visitor{*this, std::move(stop)}, step.action);
}

StepOutcome ClientSession::Create(const CreateStep& step, std::stop_token stop) {
  Result<SandboxHandle> created = provider_->CreateSandbox(MakeRequest(step, std::move(stop)));
  if (!created) return Failed(std::move(created).error());
  sandbox_ = *std::move(created);
  StepOutcome outcome;
  outcome.sandbox_id = sandbox_->id;
  return outcome;
}

StepOutcome ClientSession::Run(const RunStep& step, std::stop_token stop) {
  if (!sandbox_) return NoSandbox();
  return FromExecution(provider_->RunCode(*sandbox_, MakeRequest(step, std::move(stop))));
}

StepOutcome ClientSession::Delete(const DeleteStep& step, std::stop_token stop) {
  if (!step.id && !sandbox_) return NoSandbox();
  const SandboxRef sandbox = step.id ? SandboxRef(*step.id) : SandboxRef(*sandbox_);
  DeleteSandboxRequest request;
  request.stop = std::move(stop);
  const Result<bool> deleted = provider_->DeleteSandbox(sandbox, request);
  if (!deleted) return Failed(deleted.error());
  StepOutcome outcome;
  outcome.deleted = *deleted;
  return outcome;
}

StepOutcome ClientSession::Wait(const WaitStep& step, std::stop_token stop) {
  const std::shared_ptr<Waker> waker = clock_.NewWaker();
  const std::stop_callback on_stop(stop, [&waker] { waker->Wake(); });
  WaitRequest request;
  request.deadline = clock_.Now() + step.duration;
  request.waker = waker.get();
  request.label = "wait step";
  if (clock_.Wait(request) != WaitOutcome::kWoken) return {};
  Error error;
  error.kind = ErrorKind::kCancelled;
  error.message = "the wait was cancelled";
  return Failed(std::move(error));
}

StepOutcome ClientSession::Ephemeral(const EphemeralStep& step, std::stop_token stop) {
  return FromExecution(
      RunCodeInEphemeralSandbox(*provider_, MakeRequest(step.create, stop), MakeRequest(step.run, stop), &leaks_));
}

}  // namespace opensandbox::emulator

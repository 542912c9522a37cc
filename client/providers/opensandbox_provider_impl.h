// The OpenSandbox provider; its parts stand in opensandbox_{create,wait,run,delete,lookup,renew}.cc.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_OPENSANDBOX_PROVIDER_IMPL_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_OPENSANDBOX_PROVIDER_IMPL_H_

#include <optional>
#include <string>
#include <vector>

#include "client/providers/execd_event_parser.h"
#include "client/providers/lifecycle_provider.h"

namespace opensandbox::internal {

class OpenSandboxProvider : public LifecycleProvider {
 public:
  explicit OpenSandboxProvider(OpenSandboxProviderOptions options);

  std::string name() const override { return "opensandbox"; }
  Result<std::string> ValidateEnvironment(const std::optional<std::string>& api_key) override;
  Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest& request) override;
  Result<CodeExecutionResult> RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) override;
  Result<bool> DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& request) override;
  Result<void> RenewSandbox(const SandboxRef& sandbox, const RenewSandboxRequest& request) override;
  Result<std::vector<std::string>> FindByCreateTag(const std::string& create_tag,
                                                   const std::optional<std::string>& api_base,
                                                   std::stop_token stop) override;

 private:
  // One deadline over all waits of a call.
  struct ReadyWait {
    Duration ready_timeout{0};
    TimePoint deadline;
    TimePoint request_deadline;  // of the single requests: with a timeout of 0 one look is made all the same
    Duration poll_interval{0};
  };
  // When the endpoint wait also looks whether the sandbox still lives.
  enum class StateLook { kSometimes, kAtOnce };
  struct Target {
    SandboxHandle handle;
    CallScope scope;
  };
  // One POST /code.
  struct RunAttempt;

  // --- settings: opensandbox_provider.cc ---
  static LifecycleSettings Settings(const OpenSandboxProviderOptions& options);
  Result<SandboxRecord> ParseCreated(const HttpResponse& response) const override;
  // Argument, handle, options, environment; the first that is given.
  Result<std::string> ResolveKey(const std::optional<std::string>& argument, const SandboxHandle* handle) const;
  Result<std::string> ResolveBase(const std::optional<std::string>& argument, const SandboxHandle* handle) const;
  // Checks the reference and puts together what its calls need.
  Result<Target> Resolve(const SandboxRef& sandbox, const std::optional<std::string>& api_key,
                         const std::optional<std::string>& api_base, const std::stop_token& stop) const;

  // --- opensandbox_create.cc ---
  Result<SandboxHandle> MakeReady(const SandboxRecord& created, const CreateSandboxRequest& request,
                                  const CallScope& scope);

  // --- opensandbox_wait.cc ---
  ReadyWait StartWait(const std::optional<Duration>& ready_timeout, const std::optional<Duration>& poll_interval);
  Result<void> WaitUntilRunning(const CallScope& scope, const ReadyWait& wait);
  Result<ExecdEndpoint> WaitForEndpoint(const CallScope& scope, const ReadyWait& wait, bool use_server_proxy,
                                        StateLook look);
  Result<void> ProbeExecd(const std::string& execd_base, const std::vector<HeaderField>& headers,
                          const CallScope& scope, const ReadyWait& wait);
  // One look. An error of kind kTerminalState or kSandboxGone tells that the sandbox has ended.
  Result<SandboxStatus> GetStatus(const CallScope& scope);
  // Sleeps until the next look, or tells that there is none: false, with the clock at the deadline or `stop` requested.
  bool PauseBetweenLooks(const ReadyWait& wait, TimePoint next, const std::stop_token& stop, const char* label);

  // --- opensandbox_lookup.cc ---
  LookUp FindByTag(const std::string& tag, const CallScope& scope) override;

  // --- opensandbox_run.cc ---
  Result<void> ResolveExecd(Target& target, StateLook look);
  void StreamRun(RunAttempt& attempt, const Target& target, const RunCodeRequest& request, const std::string& body);
  // The outcome of an attempt whose stream began.
  Result<CodeExecutionResult> Conclude(RunAttempt& attempt, const Target& target, const RunCodeRequest& request);
  // Asks execd to end the run. Best effort: the answer changes nothing.
  void Interrupt(const RunAttempt& attempt, const Target& target, Duration time_limit);
  // Replaces the error of a run by what became of its sandbox, if it ended.
  void ExplainBySandbox(Error& error, const CallScope& scope);
  // The error of a run whose code was never sent.
  Error NotRun(Error error, const std::string& id, const RunCodeRequest& request) const;
  // What a run failed of, when it is one of the run's own clocks.
  void NameRunClock(Error& error, const std::string& id, const RunCodeRequest& request) const;
  std::optional<Duration> RunDeadlineOf(const RunCodeRequest& request) const;
  std::optional<Duration> IdleTimeoutOf(const RunCodeRequest& request) const;

  const OpenSandboxProviderOptions options_;
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_OPENSANDBOX_PROVIDER_IMPL_H_

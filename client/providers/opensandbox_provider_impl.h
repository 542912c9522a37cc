// The OpenSandbox provider; its parts stand in opensandbox_{create,wait,run,delete,lookup}.cc.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_OPENSANDBOX_PROVIDER_IMPL_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_OPENSANDBOX_PROVIDER_IMPL_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/providers/execd_event_parser.h"
#include "client/providers/lifecycle_calls.h"
#include "client/providers/opensandbox_wire.h"
#include "opensandbox/providers/opensandbox_provider.h"

namespace opensandbox::internal {

class OpenSandboxProvider : public SandboxProvider {
 public:
  explicit OpenSandboxProvider(OpenSandboxProviderOptions options);

  std::string name() const override { return "opensandbox"; }
  Result<std::string> ValidateEnvironment(const std::optional<std::string>& api_key) override;
  Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest& request) override;
  Result<CodeExecutionResult> RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) override;
  Result<bool> DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& request) override;

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
  struct LookUp {
    // The list was answered in full, so that what is not in it did not exist then.
    bool reliable = false;
    std::vector<SandboxRecord> found;
    bool hopeless = false;  // asking again would give the same refusal
    std::string why_not;    // why it is not reliable
  };
  struct Target {
    SandboxHandle handle;
    CallScope scope;
  };
  // One POST /code.
  struct RunAttempt;

  // --- settings: opensandbox_provider.cc ---
  std::optional<std::string> GetEnv(const char* name) const;
  // Argument, handle, options, environment; the first that is given.
  Result<std::string> ResolveKey(const std::optional<std::string>& argument, const SandboxHandle* handle) const;
  Result<std::string> ResolveBase(const std::optional<std::string>& argument, const SandboxHandle* handle) const;
  // Checks the reference and puts together what its calls need.
  Result<Target> Resolve(const SandboxRef& sandbox, const std::optional<std::string>& api_key,
                         const std::optional<std::string>& api_base, const std::stop_token& stop) const;
  std::string NewCreateTag();
  void ReportLeak(const std::string& sandbox_id, const std::string& tag, const std::string& reason) const;

  // --- opensandbox_create.cc ---
  Result<SandboxRecord> PostCreate(const std::string& body, const std::string& tag, const CallScope& scope,
                                   bool& may_have_twins);
  // The answer to a create is missing or says nothing: finds and deletes (or adopts) what it left behind. `patient`:
  // looks again until the clean-up deadline, since the sandbox may appear late.
  Result<SandboxRecord> Reconcile(Error error, const std::string& tag, const CallScope& scope, bool patient);
  Result<SandboxHandle> MakeReady(const SandboxRecord& created, const CreateSandboxRequest& request,
                                  const CallScope& scope);
  void DeleteTwins(const std::string& id, const std::string& tag, const CallScope& scope);

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
  LookUp FindByTag(const std::string& tag, const CallScope& scope);

  // --- opensandbox_delete.cc ---
  Result<bool> Delete(const CallScope& scope);
  // Deletes within the clean-up deadline, whatever the caller's stop_token says, and notes in `error` how it went.
  void CleanUp(const std::string& id, const std::string& tag, const CallScope& scope, Error& error);

  // --- opensandbox_run.cc ---
  Result<void> ResolveExecd(Target& target, StateLook look);
  void StreamRun(RunAttempt& attempt, const Target& target, const RunCodeRequest& request, const std::string& body);
  // The outcome of an attempt whose stream began.
  Result<CodeExecutionResult> Conclude(RunAttempt& attempt, const Target& target, const RunCodeRequest& request);
  // Asks execd to end the run. Best effort: the answer changes nothing.
  void Interrupt(const RunAttempt& attempt, const Target& target, Duration time_limit);
  // Replaces the error of a run by what became of its sandbox, if it ended.
  void ExplainBySandbox(Error& error, const CallScope& scope);
  // What a run failed of, when it is one of the run's own clocks.
  void NameRunClock(Error& error, const std::string& id, const RunCodeRequest& request) const;
  std::optional<Duration> RunDeadlineOf(const RunCodeRequest& request) const;
  std::optional<Duration> IdleTimeoutOf(const RunCodeRequest& request) const;

  Clock& clock() { return calls_.clock(); }

  const OpenSandboxProviderOptions options_;
  const std::uint64_t seed_;
  LifecycleCalls calls_;
  std::atomic<std::uint64_t> creates_count_{0};
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_OPENSANDBOX_PROVIDER_IMPL_H_

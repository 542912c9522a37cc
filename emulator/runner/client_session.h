// The client library as one scenario's steps use it.
#ifndef OPENSANDBOX_EMULATOR_RUNNER_CLIENT_SESSION_H_
#define OPENSANDBOX_EMULATOR_RUNNER_CLIENT_SESSION_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/runner/step_check.h"
#include "emulator/scenario/scenario.h"
#include "opensandbox/base/clock.h"
#include "opensandbox/providers/leak_sink.h"
#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox::emulator {

struct ClientSessionOptions {
  std::string api_base;
  std::string api_key;
  ClientSettings settings;
  std::uint64_t seed = 1;
  Clock* clock = nullptr;  // must outlive the session
};

// Not thread-safe: one thread takes the steps.
class ClientSession {
 public:
  // Why the runner can't make such a client; empty if it can.
  static std::string WhyUnsupported(const ClientSettings& settings);

  explicit ClientSession(const ClientSessionOptions& options);

  // Takes the step. `stop` cancels it. Fills everything of the outcome but `took` and `error_names_sandbox`.
  StepOutcome Take(const ClientStep& step, std::stop_token stop);

  // What the client itself says it could not delete.
  std::vector<Leak> Leaks() const { return leaks_.Leaks(); }

 private:
  StepOutcome Create(const CreateStep& step, std::stop_token stop);
  StepOutcome Run(const RunStep& step, std::stop_token stop);
  StepOutcome Delete(const DeleteStep& step, std::stop_token stop);
  StepOutcome Wait(const WaitStep& step, std::stop_token stop);
  StepOutcome Ephemeral(const EphemeralStep& step, std::stop_token stop);

  Clock& clock_;
  LeakLedger leaks_;  // outlives the provider, which reports to it
  std::unique_ptr<SandboxProvider> provider_;
  std::optional<SandboxHandle> sandbox_;  // of the last create that succeeded
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_RUNNER_CLIENT_SESSION_H_

// Several providers as one.
#ifndef OPENSANDBOX_PROVIDERS_FALLBACK_PROVIDER_H_
#define OPENSANDBOX_PROVIDERS_FALLBACK_PROVIDER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opensandbox/providers/leak_sink.h"
#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

struct FallbackMember {
  std::shared_ptr<SandboxProvider> provider{};
  // Its image or template. The request's own image goes to the first member only: names of images mean nothing to
  // another provider.
  std::optional<std::string> image{};
};

struct FallbackOptions {
  // How many sandboxes one member may make for one create, when each enters a terminal state. At least 1.
  int creates_per_member = 2;
  // Told of each failure after which the chain goes on; null: nobody. Called on the caller's thread.
  std::function<void(const std::string& provider, const Error& error)> on_failure{};
};

// Tries its members in order, e.g. OpenSandbox, then E2B.
//   Create: a sandbox that entered a terminal state is not waited for again: the member makes another one, then the
//   next member's turn comes. After any other failure but a cancellation the next member's turn comes at once. The last
//   error is returned, with what the others said in its message. A member that may have left a sandbox behind has
//   reported it by then. A call's api_key and api_base are refused (kInvalidArgument): a key must not reach another
//   provider.
//   Run, delete, renew: by the handle's provider. A bare id is refused, unless there is one member only.
//   ValidateEnvironment: the first member that has what it needs.
// kInvalidArgument from every call if `members` is empty, or two have one name.
std::unique_ptr<SandboxProvider> MakeFallbackProvider(std::vector<FallbackMember> members,
                                                      FallbackOptions options = {});

struct CodeInterpreterOptions {
  CreateSandboxRequest create{};
  RunCodeRequest run{};  // its code is not used
  // In how many sandboxes the code may be tried, when each ends before it has certainly run any of it.
  int sandboxes_max = 2;
  LeakSink* leak_sink = nullptr;
};

// Creates a sandbox, runs the code, deletes the sandbox on every path. Like RunCodeInEphemeralSandbox(), but tries
// again in a new sandbox when the first one ended before the code ran.
Result<CodeExecutionResult> CodeInterpreter(SandboxProvider& provider, std::string code,
                                            CodeInterpreterOptions options = {});

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_FALLBACK_PROVIDER_H_

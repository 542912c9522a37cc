// The provider contract: four hooks, the same as litellm's BaseSandboxConfig.
#ifndef OPENSANDBOX_PROVIDERS_SANDBOX_PROVIDER_H_
#define OPENSANDBOX_PROVIDERS_SANDBOX_PROVIDER_H_

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "opensandbox/base/result.h"
#include "opensandbox/providers/code_execution_result.h"
#include "opensandbox/transport/transport.h"

namespace opensandbox {

// A created sandbox and what is needed to talk to it. A plain value; printing it never shows `api_key` or header
// values.
struct SandboxHandle {
  std::string id{};
  std::string provider{};  // "opensandbox", "e2b"
  std::string domain{};    // OpenSandbox: the API base it was created at; E2B: the domain of its hosts
  std::string api_base{};  // E2B: the API base it was created at
  // The daemon's address as the provider gave it, and the headers that go with it. Empty: not resolved yet.
  std::string execd_endpoint{};
  std::vector<HeaderField> execd_headers{};
  bool use_server_proxy = false;
  std::optional<std::string> api_key{};
};

struct CreateSandboxRequest {
  std::optional<std::string> image{};  // the contract's `template`; empty or absent: the provider's default
  std::vector<std::string> entrypoint{};
  std::optional<int> timeout_seconds{};         // lifetime of the sandbox; absent: 300; 0 is passed on
  std::optional<bool> allow_internet_access{};  // absent: the provider's default (OpenSandbox: no)
  std::map<std::string, std::string> resource_limits{};
  std::map<std::string, std::string> resource_requests{};
  std::map<std::string, std::string> metadata{};
  std::map<std::string, std::string> env{};
  std::optional<std::string> network_policy_json{};  // a JSON object, sent as given
  bool secure_access = false;
  bool use_server_proxy = false;
  std::optional<Duration> ready_timeout{};  // one deadline over both waits; absent: 30 s
  std::optional<Duration> poll_interval{};  // first pause between two polls; absent: 200 ms
  std::optional<std::string> api_key{};
  std::optional<std::string> api_base{};
  std::stop_token stop{};
};

struct RunCodeRequest {
  std::string code{};
  std::string language = "python";
  std::optional<Duration> run_deadline{};           // whole run; absent: the provider's setting
  std::optional<Duration> idle_timeout{};           // longest silence; absent: the provider's setting
  std::optional<std::uint64_t> output_bytes_max{};  // absent: the provider's setting
  std::optional<std::string> api_key{};
  std::stop_token stop{};
};

struct DeleteSandboxRequest {
  std::optional<std::string> api_key{};
  std::optional<std::string> api_base{};
  std::optional<Duration> deadline{};  // for all attempts together; absent: the provider's setting
  // false: a failure is only returned, not told to the provider's own LeakSink, because the caller reports it.
  bool report_leak = true;
  std::stop_token stop{};
};

// A handle, or the bare id of a sandbox made elsewhere.
using SandboxRef = std::variant<SandboxHandle, std::string>;

// Pure: a provider that lacks one of the four hooks does not compile. Implementations are thread-safe.
class SandboxProvider {
 public:
  virtual ~SandboxProvider() = default;
  // "opensandbox", ...
  virtual std::string name() const = 0;
  // The key that calls will use ("" = none). Fails where a provider can't work without one.
  virtual Result<std::string> ValidateEnvironment(const std::optional<std::string>& api_key) = 0;
  // Returns once the sandbox can run code. On failure nothing stays alive that the error does not name.
  virtual Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest& request) = 0;
  // Code that raises is a success with `error` set.
  virtual Result<CodeExecutionResult> RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) = 0;
  // true: deleted; false: there was no such sandbox. A failure names the id.
  virtual Result<bool> DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& request) = 0;
};

enum class Hook { kValidateEnvironment, kCreateSandbox, kRunCode, kDeleteSandbox };
std::string_view ToString(Hook hook);  // the contract's spelling: "validate_environment", "acreate_sandbox", ...

// A base for providers that grow step by step: each hook that is not overridden fails with kNotImplemented and the
// contract's exact text, e.g. "arun_code must be implemented by provider". Ask `capabilities()` before creating
// anything: without kDeleteSandbox every sandbox leaks.
class PartialProvider : public SandboxProvider {
 public:
  // The hooks that work. Overriders list theirs.
  virtual std::set<Hook> capabilities() const = 0;
  // The hooks that are missing; empty if the provider is whole.
  std::set<Hook> MissingHooks() const;

  Result<std::string> ValidateEnvironment(const std::optional<std::string>& api_key) override;
  Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest& request) override;
  Result<CodeExecutionResult> RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) override;
  Result<bool> DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& request) override;
};

// Create, run, delete on every path (litellm's acode_interpreter_tool). A failed delete goes to `leak_sink` (null: to
// the provider's own) and does not hide the result or the run's error; that error's `cleanup` tells how the delete
// went. The delete heeds no stop_token. A PartialProvider that lacks a needed hook is refused before anything is
// created.
class LeakSink;
Result<CodeExecutionResult> RunCodeInEphemeralSandbox(SandboxProvider& provider, const CreateSandboxRequest& create,
                                                      const RunCodeRequest& run, LeakSink* leak_sink = nullptr);

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_SANDBOX_PROVIDER_H_

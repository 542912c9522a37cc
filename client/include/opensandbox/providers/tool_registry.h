// Named sandbox tools: which provider a name stands for, with its key, address and settings.
#ifndef OPENSANDBOX_PROVIDERS_TOOL_REGISTRY_H_
#define OPENSANDBOX_PROVIDERS_TOOL_REGISTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

// Everything that create, run and delete of one tool need. A plain value; never printed by this library.
struct SandboxToolParams {
  std::string sandbox_provider{};  // "opensandbox", "e2b", or the name of a provider of the user's
  std::optional<std::string> api_key{};
  std::optional<std::string> api_base{};
  // Absent: the provider's default, except for the internet, which code of a model does not get unless this is true.
  std::optional<std::string> image{};
  std::optional<int> timeout_seconds{};
  std::optional<bool> allow_internet_access{};
  std::map<std::string, std::string> env{};
  std::map<std::string, std::string> metadata{};
  std::string language = "python";
  std::optional<Duration> run_deadline{};
  std::optional<Duration> idle_timeout{};
  std::optional<std::uint64_t> output_bytes_max{};

  CreateSandboxRequest CreateRequest(std::stop_token stop) const;
  RunCodeRequest RunRequest(std::string code, std::stop_token stop) const;
  DeleteSandboxRequest DeleteRequest() const;
};

struct SandboxTool {
  std::string name{};
  SandboxToolParams params{};
};

// Process-wide or per component, as the caller likes. Thread-safe; a registration replaces all tools in one step, so a
// reader sees the old set or the new one, and what it has resolved stays as it was.
class SandboxToolRegistry {
 public:
  // Reads an environment variable; null: the process environment.
  using GetEnv = std::function<std::optional<std::string>(const std::string&)>;
  explicit SandboxToolRegistry(GetEnv getenv = nullptr);

  // What was wrong with entries that were skipped, one line each. Holds no value of an entry, since it may be a secret.
  using Warnings = std::vector<std::string>;

  // A JSON list as litellm's proxy configuration has it (contract section 9):
  //   [{"sandbox_tool_name": "py", "litellm_params": {"sandbox_provider": "opensandbox", "api_base": "...",
  //     "api_key": "os.environ/OPEN_SANDBOX_API_KEY"}}]
  // and in litellm_params, beyond the contract, "template", "timeout" (seconds), "allow_internet_access", "env",
  // "metadata", "language", "run_deadline" and "idle_timeout" (seconds) and "output_bytes_max". A string
  // "os.environ/NAME" for key or base is resolved now; absent from the environment: as if not given. Entries that are
  // no object, or lack a name or a provider, or have a setting of the wrong type, are skipped with a warning; of two
  // with one name the later counts. kInvalidArgument, and nothing is changed: no JSON list.
  Result<Warnings> RegisterJson(std::string_view tools_json);
  // The same for tools made in code.
  Warnings Register(std::vector<SandboxTool> tools);
  void Clear();

  // Null: unknown. The tool stays valid, and as it was, through later registrations.
  std::shared_ptr<const SandboxTool> Resolve(std::string_view name) const;
  std::vector<std::string> Names() const;

 private:
  using Tools = std::map<std::string, std::shared_ptr<const SandboxTool>, std::less<>>;
  void Swap(std::shared_ptr<const Tools> tools);
  std::shared_ptr<const Tools> Current() const;

  const GetEnv getenv_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tools> tools_;  // never changed, only replaced
};

// Providers by the name that `sandbox_provider` gives them. Thread-safe.
class ProviderDirectory {
 public:
  // Under provider->name(), or under `name`. Replaces.
  void Add(std::shared_ptr<SandboxProvider> provider);
  void Add(std::string name, std::shared_ptr<SandboxProvider> provider);
  // kNotImplemented "Code execution is not supported for provider: e2b" for a name of the contract's that nobody has
  // added, kInvalidArgument "'x' is not a valid SandboxProviders" for any other.
  Result<std::shared_ptr<SandboxProvider>> Find(std::string_view name) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<SandboxProvider>, std::less<>> providers_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_TOOL_REGISTRY_H_

// The OpenSandbox provider.
#ifndef OPENSANDBOX_PROVIDERS_OPENSANDBOX_PROVIDER_H_
#define OPENSANDBOX_PROVIDERS_OPENSANDBOX_PROVIDER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "opensandbox/providers/leak_sink.h"
#include "opensandbox/providers/retry_policy.h"
#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

// Constants of the contract (litellm's constants.py).
inline constexpr char kApiBaseEnvVar[] = "OPEN_SANDBOX_API_BASE";
inline constexpr char kApiKeyEnvVar[] = "OPEN_SANDBOX_API_KEY";
inline constexpr char kDefaultImage[] = "opensandbox/code-interpreter:v1.1.0";
inline constexpr char kDefaultEntrypoint[] = "/opt/code-interpreter/code-interpreter.sh";
inline constexpr int kDefaultSandboxTimeoutSeconds = 300;
inline constexpr int kExecdPort = 44772;
inline constexpr std::uint64_t kDefaultOutputBytesMax = 10485760;  // 10 MiB
// Metadata key by which a lost create is found again; its value is unique per create call.
inline constexpr char kCreateTagKey[] = "opensandbox-client/create-id";

// What to do with a sandbox that a lost create answer left behind and the look-up found.
enum class LostCreatePolicy {
  kDelete,  // delete it and report kOutcomeUnknown with cleanup = kDeleted
  kAdopt,   // go on with it as if the answer had come
};

struct OpenSandboxProviderOptions {
  // Precedence: the call's api_base/api_key, these, then OPEN_SANDBOX_API_BASE / OPEN_SANDBOX_API_KEY. "" counts as
  // given for the key (no key is sent) and as absent for the base.
  std::optional<std::string> api_base;
  std::optional<std::string> api_key;
  std::shared_ptr<Transport> transport;  // null: MakeHttplibTransport()
  RetryPolicy retry;
  LostCreatePolicy lost_create = LostCreatePolicy::kDelete;
  Duration create_request_timeout = std::chrono::seconds(120);  // the POST itself: it may pull an image
  Duration request_timeout = std::chrono::seconds(30);
  Duration connect_timeout = std::chrono::seconds(5);
  Duration ready_timeout = std::chrono::seconds(30);
  Duration poll_interval = std::chrono::milliseconds(200);
  Duration poll_interval_max = std::chrono::seconds(2);
  std::optional<Duration> run_deadline = std::chrono::minutes(10);
  std::optional<Duration> idle_timeout = std::chrono::seconds(60);  // execd pings every 3 s while code runs
  Duration cleanup_deadline = std::chrono::seconds(25);
  std::uint64_t output_bytes_max = kDefaultOutputBytesMax;
  bool probe_execd = false;           // GET {execd}/ping before create returns
  bool allow_insecure_execd = false;  // accept an http:// endpoint below an https:// base
  std::uint64_t seed = 0;             // of the retry jitter and of the create tag; 0: drawn from the system
  LeakSink* leak_sink = nullptr;      // told of every sandbox that could not be deleted; must outlive the provider
  // Reads an environment variable; null: the process environment.
  std::function<std::optional<std::string>(const std::string&)> getenv;
};

std::unique_ptr<SandboxProvider> MakeOpenSandboxProvider(OpenSandboxProviderOptions options = {});

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_OPENSANDBOX_PROVIDER_H_

// The E2B provider.
#ifndef OPENSANDBOX_PROVIDERS_E2B_PROVIDER_H_
#define OPENSANDBOX_PROVIDERS_E2B_PROVIDER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opensandbox/providers/leak_sink.h"
#include "opensandbox/providers/opensandbox_provider.h"
#include "opensandbox/providers/retry_policy.h"
#include "opensandbox/providers/sandbox_journal.h"
#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

// Constants of the contract (section 7).
inline constexpr char kE2bApiKeyEnvVar[] = "E2B_API_KEY";
inline constexpr char kE2bDefaultApiBase[] = "https://api.e2b.app";
inline constexpr char kE2bDefaultTemplate[] = "code-interpreter-v1";
inline constexpr char kE2bDefaultDomain[] = "e2b.app";
inline constexpr int kE2bJupyterPort = 49999;

struct E2bProviderOptions {
  // Precedence: the call's, the handle's, these, the environment's, the default. "" counts as absent, also for the key:
  // E2B works with none. Environment: E2B_API_KEY; E2B_API_URL (else https://api.E2B_DOMAIN) for the base; E2B_DOMAIN.
  std::optional<std::string> api_base{};
  std::optional<std::string> api_key{};
  std::optional<std::string> domain{};
  // One address for all sandboxes' traffic instead of https://49999-{id}.{domain}, e.g. of a local server; the sandbox
  // is then named by headers. Environment: E2B_SANDBOX_URL. May be plain http.
  std::optional<std::string> sandbox_url{};
  // A domain that the server names must be one of these or below one; besides, E2B's own, `domain`, and that of the API
  // base ("api.x.org" stands for "x.org") are allowed. Tokens and code are sent to no other.
  std::vector<std::string> allowed_domains{};
  std::shared_ptr<Transport> transport{};  // null: MakeHttplibTransport()
  RetryPolicy retry{};
  LostCreatePolicy lost_create = LostCreatePolicy::kDelete;
  Duration create_request_timeout = std::chrono::seconds(120);
  Duration request_timeout = std::chrono::seconds(30);
  Duration connect_timeout = std::chrono::seconds(5);
  std::optional<Duration> run_deadline = std::chrono::minutes(10);
  std::optional<Duration> idle_timeout = std::chrono::seconds(60);  // E2B sends keepalives every 5 s
  Duration cleanup_deadline = std::chrono::seconds(25);
  std::uint64_t output_bytes_max = kDefaultOutputBytesMax;
  std::uint64_t seed = 0;         // as in OpenSandboxProviderOptions
  LeakSink* leak_sink = nullptr;  // told of every sandbox that could not be deleted; must outlive the provider
  // Written before each create and after each delete; must outlive the provider. A create whose line cannot be written
  // is not sent.
  SandboxJournal* journal = nullptr;
  // Reads an environment variable; null: the process environment.
  std::function<std::optional<std::string>(const std::string&)> getenv{};
};

// What the provider promises, beyond the hooks' own comments. Facts: litellm's contract, section 7, and E2B's wire.
//
// Create
//   One POST; E2B's sandboxes are ready when it is answered. As with OpenSandbox, its metadata holds kCreateTagKey, and
//   a lost answer (or one without a usable id) is looked up by it: see MakeOpenSandboxProvider(). `image` is the
//   template; `allow_internet_access` absent means true, which is E2B's default; `env` is set in the sandbox.
//   E2B has no resource limits, entrypoint or secure_access of its own: they are ignored. A network_policy_json is
//   refused (kInvalidArgument) rather than ignored.
// Run
//   Needs the token of the create's answer, which the handle holds in `execd_headers`: a handle can be stored and used
//   again, a bare id cannot. Never sent twice unless it certainly was not run. The stream must announce its end
//   (end_of_execution), or at least that the code was accepted (number_of_executions) and come to its regular end;
//   otherwise kStreamTruncated. A language other than python is sent; E2B then makes a context for it.
// Delete
//   As with OpenSandbox. The key is needed, the token is not.
std::unique_ptr<SandboxProvider> MakeE2bProvider(E2bProviderOptions options = {});

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_E2B_PROVIDER_H_

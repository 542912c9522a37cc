// The OpenSandbox provider.
#ifndef OPENSANDBOX_PROVIDERS_OPENSANDBOX_PROVIDER_H_
#define OPENSANDBOX_PROVIDERS_OPENSANDBOX_PROVIDER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "opensandbox/providers/leak_sink.h"
#include "opensandbox/providers/retry_policy.h"
#include "opensandbox/providers/sandbox_journal.h"
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
  std::optional<std::string> api_base{};
  std::optional<std::string> api_key{};
  std::shared_ptr<Transport> transport{};  // null: MakeHttplibTransport()
  RetryPolicy retry{};
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
  // Of the retry jitter and of the create tag; 0: drawn from the system. Two providers with the same seed and the same
  // server would take each other's sandboxes for their own: for tests only.
  std::uint64_t seed = 0;
  LeakSink* leak_sink = nullptr;  // told of every sandbox that could not be deleted; must outlive the provider
  // Written before each create and after each delete; must outlive the provider. A create whose line cannot be written
  // is not sent.
  SandboxJournal* journal = nullptr;
  // Reads an environment variable; null: the process environment.
  std::function<std::optional<std::string>(const std::string&)> getenv{};
};

// What the provider promises, beyond the hooks' own comments. Facts: litellm's contract, section 6; the bodies are
// litellm's plus one metadata entry, kCreateTagKey.
//
// Create
//   Sent again by policy when it certainly did not happen (not sent, 429) and, after a look-up, when it was answered
//   502, 503 or 504: all attempts carry the same tag, and what the look-up finds is deleted (or adopted) first, so at
//   most one sandbox per call lives. After such an answer the list is looked at once more before the call returns.
//   A lost answer (also a cancelled one, a 504 that is given up on, a success without an id) is looked up at once and
//   then after 0.5, 1, 2, 4, 5, 5 ... s, until it is found or `cleanup_deadline` is used up, since the server may
//   commit late. Found: see LostCreatePolicy. Not found, and the list was readable: outcome = kUnknown, cleanup =
//   kNotNeeded, the tag stands in the message. Not readable: cleanup = kFailed and a Leak with the tag and no id. A
//   wait that fails for whatever reason is followed by a delete with its own `cleanup_deadline`, which heeds no
//   stop_token. `ready_timeout` covers the wait for Running, for the endpoint and for the probe together; it begins
//   after the answer to the POST. Polls answered 429 or 5xx, or not answered, are repeated until it ends.
// Run
//   Never sent twice, unless it was not sent or was refused with 429 or, at an endpoint that may be old, with 404.
//   `output_bytes_max` limits the decoded bytes of stdout, stderr and results exactly; memory and wire bytes beyond
//   that are limited as client/providers/execd_event_parser.h says. A stream must announce its end
//   (execution_complete, an error event, or execd's bare {code, message}); otherwise kStreamTruncated. What comes after
//   a completion event is read for at most 10 s. Over the cap, out of time or cancelled, the run is interrupted
//   (at most 2 s; cancelled: 60 ms). A failed run is followed by one look at the sandbox (at most 5 s), so that
//   kSandboxGone and kTerminalState tell when it ended. All errors of a started run hold the partial output.
// Delete
//   Repeated as DELETE within the deadline; one attempt takes at most half of it. 404 is false, but true if an earlier
//   attempt of the same call may have worked.
std::unique_ptr<SandboxProvider> MakeOpenSandboxProvider(OpenSandboxProviderOptions options = {});

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_OPENSANDBOX_PROVIDER_H_

// Requests to the lifecycle API: limits, cancellation, error mapping, retries.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_LIFECYCLE_CALLS_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_LIFECYCLE_CALLS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "opensandbox/base/random.h"
#include "opensandbox/providers/retry_policy.h"
#include "opensandbox/transport/transport.h"

namespace opensandbox::internal {

// What the requests of one operation share.
struct CallScope {
  std::string base;  // checked API base
  std::string api_key;
  std::string sandbox_id;  // for errors; may be empty
  std::optional<TimePoint> deadline;
  std::stop_token stop;
};

struct LifecycleRequest {
  std::string operation;  // "getSandbox", ...
  std::string method;
  std::string path;  // below the base, escaped, with its query
  std::string body;
  Duration timeout{0};  // of one attempt; the scope's deadline may make it shorter
};

// Blocks until `when` or until `stop` is requested; false if it was. Cancellation takes effect at once.
bool PauseUntil(Clock& clock, TimePoint when, const std::stop_token& stop, const char* label);

Error CancelledError(const std::string& operation, const std::string& sandbox_id,
                     const std::string& label = "OpenSandbox");

// Thread-safe.
class LifecycleCalls {
 public:
  // An answer of the lifecycle API is a few KiB; a list page of 200 sandboxes some 200 KiB.
  static constexpr std::size_t kResponseBytesMax = 4 << 20;

  // The headers of a request.
  using Headers = std::function<std::vector<HeaderField>(const std::string& api_key, bool has_body)>;

  // `label` names the provider in messages.
  LifecycleCalls(std::shared_ptr<Transport> transport, RetryPolicy policy, Duration connect_timeout,
                 std::uint64_t jitter_seed, Headers headers, std::string label);

  // One request. 2xx is success; everything else is an error with operation, sandbox and attempts = 1.
  Result<HttpResponse> Once(const LifecycleRequest& request, const CallScope& scope);
  // For requests that do no harm when sent twice: repeats by policy until the scope's deadline. The error is that of
  // the last attempt and counts all; `attempts` also comes out of a success, and `maybe_done` tells whether an earlier
  // attempt may have taken effect.
  struct Repeated {
    Result<HttpResponse> response;
    int attempts = 0;
    bool maybe_done = false;
  };
  Repeated Repeat(const LifecycleRequest& request, const CallScope& scope);

  // The policy's pause after `error`, which was the outcome of attempt number `attempts_made`.
  Duration PauseAfter(const Error& error, int attempts_made);
  Error Cancelled(const std::string& operation, const std::string& sandbox_id) const {
    return CancelledError(operation, sandbox_id, label_);
  }
  const RetryPolicy& policy() const { return policy_; }
  Transport& transport() { return *transport_; }
  Clock& clock() { return transport_->clock(); }
  Duration connect_timeout() const { return connect_timeout_; }

 private:
  const std::shared_ptr<Transport> transport_;
  const RetryPolicy policy_;
  const Duration connect_timeout_;
  const Headers headers_;
  const std::string label_;
  std::mutex mutex_;
  SeededRandom random_;  // of the jitter, under the mutex
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_LIFECYCLE_CALLS_H_

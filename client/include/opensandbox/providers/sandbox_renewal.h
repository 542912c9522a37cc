// An ability that a provider may have beyond the four hooks: making a sandbox live longer.
#ifndef OPENSANDBOX_PROVIDERS_SANDBOX_RENEWAL_H_
#define OPENSANDBOX_PROVIDERS_SANDBOX_RENEWAL_H_

#include <optional>
#include <stop_token>
#include <string>

#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

struct RenewSandboxRequest {
  Duration lifetime{0};  // from now on; may be shorter than what is left
  std::optional<std::string> api_key{};
  std::optional<std::string> api_base{};
  std::stop_token stop{};
};

// A SandboxProvider that also derives from this can keep sandboxes alive; callers find out with dynamic_cast. Both
// providers of this library can. Thread-safe.
class SandboxRenewal {
 public:
  virtual ~SandboxRenewal() = default;
  // kSandboxGone: there is no such sandbox. Repeated by policy, since it does no harm twice.
  virtual Result<void> RenewSandbox(const SandboxRef& sandbox, const RenewSandboxRequest& request) = 0;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_SANDBOX_RENEWAL_H_

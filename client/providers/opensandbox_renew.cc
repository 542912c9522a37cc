#include <utility>

#include "client/providers/opensandbox_provider_impl.h"
#include "opensandbox/base/rfc3339.h"

namespace opensandbox::internal {

Result<void> OpenSandboxProvider::RenewSandbox(const SandboxRef& sandbox, const RenewSandboxRequest& request) {
  Result<Target> target = Resolve(sandbox, request.api_key, request.api_base, request.stop);
  if (!target) return std::move(target).error();
  const std::string& id = target->handle.id;
  if (request.lifetime <= Duration::zero()) {
    Error error;
    error.kind = ErrorKind::kInvalidArgument;
    error.message = "A sandbox can only be renewed for a time above 0.";
    error.sandbox_id = id;
    return error;
  }
  LifecycleRequest renew;
  renew.operation = "renewSandboxExpiration";
  renew.method = "POST";
  renew.path = "/sandboxes/" + PercentEncode(id) + "/renew-expiration";
  renew.body = R"({"expiresAt":")" + FormatRfc3339(clock().WallNow() + request.lifetime, 3) + R"("})";
  renew.timeout = options_.request_timeout;
  target->scope.deadline = clock().Now() + options_.request_timeout;
  LifecycleCalls::Repeated renewed = calls_.Repeat(renew, target->scope);
  if (renewed.response) return {};
  Error& error = renewed.response.error();
  if (error.kind == ErrorKind::kApi && error.http_status == 404) {
    error.kind = ErrorKind::kSandboxGone;
    error.message = "OpenSandbox sandbox " + id + " does not exist any more: " + error.message;
  }
  return std::move(error);
}

}  // namespace opensandbox::internal

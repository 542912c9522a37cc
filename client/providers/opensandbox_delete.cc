#include <utility>

#include "client/providers/opensandbox_provider_impl.h"

namespace opensandbox::internal {

Result<bool> OpenSandboxProvider::DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& request) {
  Result<Target> target = Resolve(sandbox, request.api_key, request.api_base, request.stop);
  if (!target) return std::move(target).error();
  target->scope.deadline = clock().Now() + request.deadline.value_or(options_.cleanup_deadline);
  Result<bool> deleted = Delete(target->scope);
  if (!deleted && request.report_leak) ReportLeak(target->handle.id, "", deleted.error().Describe());
  return deleted;
}

}  // namespace opensandbox::internal

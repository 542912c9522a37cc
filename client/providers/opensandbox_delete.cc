#include <algorithm>
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

Result<bool> OpenSandboxProvider::Delete(const CallScope& scope) {
  LifecycleRequest request;
  request.operation = "deleteSandbox";
  request.method = "DELETE";
  request.path = "/sandboxes/" + PercentEncode(scope.sandbox_id);
  // At most half of the time for one attempt: a server that never answers gets a second one.
  request.timeout = std::min(options_.request_timeout, (*scope.deadline - clock().Now()) / 2);
  LifecycleCalls::Repeated deleted = calls_.Repeat(request, scope);
  if (deleted.response) return true;
  Error& error = deleted.response.error();
  // Gone after an attempt whose fate is unknown: most likely that attempt's work, and in any case not "never there".
  if (error.kind == ErrorKind::kApi && error.http_status == 404) return deleted.maybe_done;
  return std::move(error);
}

void OpenSandboxProvider::CleanUp(const std::string& id, const std::string& tag, const CallScope& scope, Error& error) {
  CallScope own = scope;
  own.sandbox_id = id;
  own.stop = {};
  own.deadline = clock().Now() + options_.cleanup_deadline;
  const Result<bool> deleted = Delete(own);
  error.sandbox_id = id;
  if (deleted) {
    if (error.cleanup == Cleanup::kNotNeeded) error.cleanup = Cleanup::kDeleted;
    return;
  }
  error.cleanup = Cleanup::kFailed;
  error.cleanup_message = deleted.error().message;
  ReportLeak(id, tag, deleted.error().Describe());
}

}  // namespace opensandbox::internal

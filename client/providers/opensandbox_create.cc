#include <utility>

#include "client/providers/opensandbox_provider_impl.h"

namespace opensandbox::internal {

Result<SandboxHandle> OpenSandboxProvider::CreateSandbox(const CreateSandboxRequest& request) {
  Result<std::string> base = ResolveBase(request.api_base, nullptr);
  if (!base) return std::move(base).error();
  Result<std::string> key = ResolveKey(request.api_key, nullptr);
  if (!key) return std::move(key).error();
  const std::string tag = NewCreateTag();
  Result<std::string> body = CreateBody(request, tag);
  if (!body) return std::move(body).error();

  CallScope scope{*base, *key, "", std::nullopt, request.stop};
  bool may_have_twins = false;
  Result<SandboxRecord> created = PostCreate(*body, tag, scope, may_have_twins);
  if (!created) return std::move(created).error();
  scope.sandbox_id = created->id;
  Result<SandboxHandle> handle = MakeReady(*created, request, scope);
  if (!handle) {
    Error& error = handle.error();
    error.outcome = Outcome::kHappened;
    CleanUp(created->id, tag, scope, error);
  }
  if (may_have_twins) DeleteTwins(created->id, tag, scope);
  return handle;
}

Result<SandboxHandle> OpenSandboxProvider::MakeReady(const SandboxRecord& created, const CreateSandboxRequest& request,
                                                     const CallScope& scope) {
  const ReadyWait wait = StartWait(request.ready_timeout, request.poll_interval);
  if (created.status.state != "Running") {
    if (Result<void> running = WaitUntilRunning(scope, wait); !running) return std::move(running).error();
  }
  Result<ExecdEndpoint> endpoint = WaitForEndpoint(scope, wait, request.use_server_proxy, StateLook::kSometimes);
  if (!endpoint) return std::move(endpoint).error();
  Result<std::string> execd_base = ExecdBase(endpoint->endpoint, scope.base, options_.allow_insecure_execd);
  if (!execd_base) return std::move(execd_base).error();
  if (options_.probe_execd) {
    if (Result<void> up = ProbeExecd(*execd_base, endpoint->headers, scope, wait); !up) return std::move(up).error();
  }
  SandboxHandle handle;
  handle.id = created.id;
  handle.provider = name();
  handle.domain = scope.base;
  handle.execd_endpoint = std::move(endpoint->endpoint);
  handle.execd_headers = std::move(endpoint->headers);
  handle.use_server_proxy = request.use_server_proxy;
  handle.api_key = scope.api_key;
  return handle;
}

}  // namespace opensandbox::internal

// The E2B provider; its parts stand in e2b_provider.cc, e2b_run.cc and e2b_wire.cc.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_E2B_PROVIDER_IMPL_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_E2B_PROVIDER_IMPL_H_

#include <optional>
#include <string>
#include <vector>

#include "client/providers/execd_event_parser.h"
#include "client/providers/lifecycle_provider.h"
#include "opensandbox/providers/e2b_provider.h"

namespace opensandbox::internal {

// --- e2b_wire.cc ---

// What an answer tells of a sandbox.
struct E2bSandbox {
  std::string id;
  std::string domain;  // empty: the default
  std::string access_token;
  std::string traffic_token;
};
// kProtocol: no JSON object with a string `sandboxID`.
Result<E2bSandbox> ParseE2bSandbox(const std::string& operation, const HttpResponse& response);
// One page of GET /v2/sandboxes.
Result<std::vector<SandboxRecord>> ParseE2bList(const HttpResponse& response);
// kInvalidArgument: text that is no UTF-8, a network policy, the tag's key used.
Result<std::string> E2bCreateBody(const CreateSandboxRequest& request, const std::string& create_tag);
Result<std::string> E2bRunBody(const RunCodeRequest& request);
// "metadata=KEY%3DVALUE", both encoded three times, which is what E2B's server takes apart again.
std::string E2bCreateTagQuery(const std::string& create_tag);
// A URL without trailing slashes. kInvalidArgument, naming `what`: no http(s) URL, a query or fragment, user
// information.
Result<std::string> CheckedE2bUrl(const std::string& url, const std::string& what);
// Host and, if given, port. May code and tokens be sent to hosts below it?
bool IsAllowedE2bDomain(const std::string& domain, const std::vector<std::string>& allowed);
// Can the id be a part of a host name behind "49999-"?
bool IsHostLabelTail(const std::string& id);

class E2bProvider : public LifecycleProvider {
 public:
  explicit E2bProvider(E2bProviderOptions options);

  std::string name() const override { return "e2b"; }
  Result<std::string> ValidateEnvironment(const std::optional<std::string>& api_key) override;
  Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest& request) override;
  Result<CodeExecutionResult> RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) override;
  Result<bool> DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& request) override;
  Result<void> RenewSandbox(const SandboxRef& sandbox, const RenewSandboxRequest& request) override;
  Result<std::vector<std::string>> FindByCreateTag(const std::string& create_tag,
                                                   const std::optional<std::string>& api_base,
                                                   std::stop_token stop) override;

 private:
  struct Target {
    SandboxHandle handle;
    CallScope scope;
  };
  struct RunAttempt;

  static LifecycleSettings Settings(const E2bProviderOptions& options);
  Result<SandboxRecord> ParseCreated(const HttpResponse& response) const override;
  LookUp FindByTag(const std::string& tag, const CallScope& scope) override;

  // --- settings ---
  Result<std::string> ResolveKey(const std::optional<std::string>& argument, const SandboxHandle* handle) const;
  Result<std::string> ResolveBase(const std::optional<std::string>& argument, const SandboxHandle* handle) const;
  std::string DefaultDomain() const;
  Result<Target> Resolve(const SandboxRef& sandbox, const std::optional<std::string>& api_key,
                         const std::optional<std::string>& api_base, const std::stop_token& stop) const;
  // Checks what every call checks: provider and id.
  Result<SandboxHandle> ToHandle(const SandboxRef& sandbox) const;

  Result<SandboxHandle> MakeHandle(const SandboxRecord& created, const CallScope& scope);
  Result<E2bSandbox> GetSandbox(const CallScope& scope);

  // --- e2b_run.cc ---
  // Base URL of the code interpreter, without path.
  Result<std::string> RunBase(const SandboxHandle& handle, const std::string& api_base, bool& by_headers) const;
  void StreamRun(RunAttempt& attempt, const HttpRequest& http, const RunCodeRequest& request,
                 std::optional<TimePoint> deadline);
  Result<CodeExecutionResult> Conclude(RunAttempt& attempt, const Target& target, const RunCodeRequest& request);
  void NameRunClock(Error& error, const std::string& id, const RunCodeRequest& request) const;
  void ExplainBySandbox(Error& error, const CallScope& scope);

  const E2bProviderOptions options_;
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_E2B_PROVIDER_IMPL_H_

#include "opensandbox/providers/fallback_provider.h"

#include <algorithm>
#include <set>
#include <utility>

#include "client/providers/ephemeral.h"
#include "opensandbox/providers/sandbox_renewal.h"

namespace opensandbox {
namespace {

Error InvalidArgument(std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.message = std::move(message);
  return error;
}

class FallbackProvider : public SandboxProvider, public SandboxRenewal {
 public:
  FallbackProvider(std::vector<FallbackMember> members, FallbackOptions options)
      : members_(std::move(members)), options_(std::move(options)) {
    std::set<std::string> names;
    for (const FallbackMember& member : members_) {
      if (!names.insert(member.provider->name()).second) wrong_ = "two members are named " + member.provider->name();
    }
    if (members_.empty()) wrong_ = "it has no members";
    if (options_.creates_per_member < 1) wrong_ = "creates_per_member must be at least 1";
  }

  std::string name() const override { return "fallback"; }

  Result<std::string> ValidateEnvironment(const std::optional<std::string>& api_key) override {
    if (!wrong_.empty()) return Wrong();
    if (api_key) return InvalidArgument("A fallback chain takes no api_key: give each member its own.");
    Result<std::string> last = Wrong();
    for (const FallbackMember& member : members_) {
      last = member.provider->ValidateEnvironment(std::nullopt);
      if (last) return last;
    }
    return last;
  }

  Result<SandboxHandle> CreateSandbox(const CreateSandboxRequest& request) override {
    if (!wrong_.empty()) return Wrong();
    if (request.api_key || request.api_base) {
      return InvalidArgument("A fallback chain takes no api_key and no api_base: give each member its own.");
    }
    std::string earlier;
    for (std::size_t i = 0;; ++i) {
      const FallbackMember& member = members_[i];
      CreateSandboxRequest own = request;
      if (i > 0) own.image.reset();
      if (member.image && !own.image) own.image = member.image;
      Result<SandboxHandle> handle = CreateWith(*member.provider, own);
      if (handle || handle.error().kind == ErrorKind::kCancelled) return handle;
      Error& error = handle.error();
      if (i + 1 == members_.size()) {
        if (!earlier.empty()) error.message += " (before that: " + earlier + ")";
        return handle;
      }
      if (options_.on_failure) options_.on_failure(member.provider->name(), error);
      earlier += (earlier.empty() ? "" : "; ") + member.provider->name() + ": " + error.message;
    }
  }

  Result<CodeExecutionResult> RunCode(const SandboxRef& sandbox, const RunCodeRequest& request) override {
    Result<SandboxProvider*> member = MemberOf(sandbox);
    if (!member) return std::move(member).error();
    return (*member)->RunCode(sandbox, request);
  }

  Result<bool> DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& request) override {
    Result<SandboxProvider*> member = MemberOf(sandbox);
    if (!member) return std::move(member).error();
    return (*member)->DeleteSandbox(sandbox, request);
  }

  Result<void> RenewSandbox(const SandboxRef& sandbox, const RenewSandboxRequest& request) override {
    Result<SandboxProvider*> member = MemberOf(sandbox);
    if (!member) return std::move(member).error();
    if (auto* renewal = dynamic_cast<SandboxRenewal*>(*member)) return renewal->RenewSandbox(sandbox, request);
    Error error;
    error.kind = ErrorKind::kNotImplemented;
    error.message = "The provider \"" + (*member)->name() + "\" cannot renew sandboxes.";
    return error;
  }

 private:
  Error Wrong() const { return InvalidArgument("The fallback chain cannot be used: " + wrong_ + "."); }

  Result<SandboxHandle> CreateWith(SandboxProvider& provider, const CreateSandboxRequest& request) const {
    for (int made = 1;; ++made) {
      Result<SandboxHandle> handle = provider.CreateSandbox(request);
      if (handle || handle.error().kind != ErrorKind::kTerminalState || made >= options_.creates_per_member) {
        return handle;
      }
      if (options_.on_failure) options_.on_failure(provider.name(), handle.error());
    }
  }

  Result<SandboxProvider*> MemberOf(const SandboxRef& sandbox) const {
    if (!wrong_.empty()) return Wrong();
    const auto* handle = std::get_if<SandboxHandle>(&sandbox);
    const std::string name = handle != nullptr ? handle->provider : "";
    if (name.empty() && members_.size() == 1) return members_[0].provider.get();
    for (const FallbackMember& member : members_) {
      if (member.provider->name() == name) return member.provider.get();
    }
    Error error = InvalidArgument(name.empty() ? "A bare sandbox id does not tell which member of the chain made it."
                                               : "No member of the chain is named \"" + name + "\".");
    error.sandbox_id = handle != nullptr ? handle->id : std::get<std::string>(sandbox);
    return error;
  }

  const std::vector<FallbackMember> members_;
  const FallbackOptions options_;
  std::string wrong_;  // empty: nothing
};

}  // namespace

std::unique_ptr<SandboxProvider> MakeFallbackProvider(std::vector<FallbackMember> members, FallbackOptions options) {
  return std::make_unique<FallbackProvider>(std::move(members), std::move(options));
}

Result<CodeExecutionResult> CodeInterpreter(SandboxProvider& provider, std::string code,
                                            CodeInterpreterOptions options) {
  options.run.code = std::move(code);
  for (int sandboxes = 1;; ++sandboxes) {
    bool may_have_run = false;
    Result<CodeExecutionResult> result =
        internal::RunInEphemeralSandbox(provider, options.create, options.run, options.leak_sink, may_have_run);
    if (result || may_have_run || sandboxes >= options.sandboxes_max) return result;
    const ErrorKind kind = result.error().kind;
    if (kind != ErrorKind::kTerminalState && kind != ErrorKind::kSandboxGone) return result;
  }
}

}  // namespace opensandbox

#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {
namespace {

constexpr Hook kHooks[] = {Hook::kValidateEnvironment, Hook::kCreateSandbox, Hook::kRunCode, Hook::kDeleteSandbox};

Error NotImplemented(Hook hook) {
  Error error;
  error.kind = ErrorKind::kNotImplemented;
  error.message = std::string(ToString(hook)) + " must be implemented by provider";
  return error;
}

}  // namespace

std::string_view ToString(Hook hook) {
  switch (hook) {
    case Hook::kValidateEnvironment:
      return "validate_environment";
    case Hook::kCreateSandbox:
      return "acreate_sandbox";
    case Hook::kRunCode:
      return "arun_code";
    case Hook::kDeleteSandbox:
      return "adelete_sandbox";
  }
  return "unknown";
}

std::set<Hook> PartialProvider::MissingHooks() const {
  const std::set<Hook> present = capabilities();
  std::set<Hook> missing;
  for (const Hook hook : kHooks) {
    if (present.count(hook) == 0) missing.insert(hook);
  }
  return missing;
}

Result<std::string> PartialProvider::ValidateEnvironment(const std::optional<std::string>& /*api_key*/) {
  return NotImplemented(Hook::kValidateEnvironment);
}

Result<SandboxHandle> PartialProvider::CreateSandbox(const CreateSandboxRequest& /*request*/) {
  return NotImplemented(Hook::kCreateSandbox);
}

Result<CodeExecutionResult> PartialProvider::RunCode(const SandboxRef& /*sandbox*/, const RunCodeRequest& /*request*/) {
  return NotImplemented(Hook::kRunCode);
}

Result<bool> PartialProvider::DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& /*request*/) {
  Error error = NotImplemented(Hook::kDeleteSandbox);
  // The sandbox is still there: whoever reads the error must be able to find it.
  const auto* handle = std::get_if<SandboxHandle>(&sandbox);
  error.sandbox_id = handle != nullptr ? handle->id : std::get<std::string>(sandbox);
  return error;
}

}  // namespace opensandbox

#include "client/providers/ephemeral.h"

#include <utility>

#include "opensandbox/providers/leak_sink.h"
#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

Result<CodeExecutionResult> RunCodeInEphemeralSandbox(SandboxProvider& provider, const CreateSandboxRequest& create,
                                                      const RunCodeRequest& run, LeakSink* leak_sink) {
  bool may_have_run = false;
  return internal::RunInEphemeralSandbox(provider, create, run, leak_sink, may_have_run);
}

Result<CodeExecutionResult> internal::RunInEphemeralSandbox(SandboxProvider& provider,
                                                            const CreateSandboxRequest& create,
                                                            const RunCodeRequest& run, LeakSink* leak_sink,
                                                            bool& may_have_run) {
  if (const auto* partial = dynamic_cast<const PartialProvider*>(&provider)) {
    // Asked before anything exists: without a delete, every call would leave a sandbox behind.
    for (const Hook hook : partial->MissingHooks()) {
      if (hook == Hook::kValidateEnvironment) continue;
      Error error;
      error.kind = ErrorKind::kNotImplemented;
      error.message = std::string(ToString(hook)) + " must be implemented by provider";
      return error;
    }
  }
  Result<SandboxHandle> handle = provider.CreateSandbox(create);
  if (!handle) return std::move(handle).error();
  Result<CodeExecutionResult> result = provider.RunCode(*handle, run);
  may_have_run = result.has_value() || result.error().outcome != Outcome::kDidNotHappen;
  DeleteSandboxRequest remove;  // no stop_token: a cancelled run is cleaned up too
  remove.api_key = create.api_key;
  remove.report_leak = leak_sink == nullptr;
  const Result<bool> deleted = provider.DeleteSandbox(*handle, remove);
  if (!deleted && leak_sink != nullptr) {
    leak_sink->OnLeak({handle->provider, handle->id, "", deleted.error().Describe()});
  }
  if (!result) {
    Error& error = result.error();
    error.sandbox_id = handle->id;
    error.cleanup = deleted ? Cleanup::kDeleted : Cleanup::kFailed;
    if (!deleted) error.cleanup_message = deleted.error().message;
  }
  return result;
}

}  // namespace opensandbox

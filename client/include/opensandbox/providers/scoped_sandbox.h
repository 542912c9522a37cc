// A sandbox that is deleted at the end of its scope.
#ifndef OPENSANDBOX_PROVIDERS_SCOPED_SANDBOX_H_
#define OPENSANDBOX_PROVIDERS_SCOPED_SANDBOX_H_

#include <string>

#include "opensandbox/providers/leak_sink.h"
#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

// Movable. The destructor deletes (bounded by the provider's clean-up deadline, not by any stop_token) and reports what
// it could not delete to the sink, or without one leaves the report to the provider; it never throws.
class ScopedSandbox {
 public:
  // Neither pointer is owned; both must outlive the object. `leak_sink` may be null.
  static Result<ScopedSandbox> Create(SandboxProvider* provider, const CreateSandboxRequest& request,
                                      LeakSink* leak_sink = nullptr);
  ScopedSandbox(SandboxProvider* provider, SandboxHandle handle, LeakSink* leak_sink = nullptr);
  ScopedSandbox(ScopedSandbox&& other) noexcept;
  ScopedSandbox& operator=(ScopedSandbox&& other) noexcept;
  ~ScopedSandbox();

  // Stay readable after Delete() and Release().
  const SandboxHandle& handle() const { return handle_; }
  const std::string& id() const { return handle_.id; }
  Result<CodeExecutionResult> RunCode(const RunCodeRequest& request);
  // Deletes now. After success (or "no such sandbox") the destructor does nothing; after a failure it tries again, so
  // a failure here is not reported to the sink yet. false, without a request, if there is nothing left to delete.
  Result<bool> Delete(const DeleteSandboxRequest& request = {});
  // Gives the sandbox up without deleting it.
  SandboxHandle Release();

 private:
  void DeleteAtScopeEnd() noexcept;

  SandboxProvider* provider_ = nullptr;
  SandboxHandle handle_;
  bool owned_ = false;
  LeakSink* leak_sink_ = nullptr;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_SCOPED_SANDBOX_H_

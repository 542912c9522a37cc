#include "opensandbox/providers/scoped_sandbox.h"

#include <exception>
#include <utility>

namespace opensandbox {

Result<ScopedSandbox> ScopedSandbox::Create(SandboxProvider* provider, const CreateSandboxRequest& request,
                                            LeakSink* leak_sink) {
  Result<SandboxHandle> handle = provider->CreateSandbox(request);
  if (!handle) return std::move(handle).error();
  return ScopedSandbox(provider, *std::move(handle), leak_sink);
}

ScopedSandbox::ScopedSandbox(SandboxProvider* provider, SandboxHandle handle, LeakSink* leak_sink)
    : provider_(provider), handle_(std::move(handle)), owned_(true), leak_sink_(leak_sink) {}

ScopedSandbox::ScopedSandbox(ScopedSandbox&& other) noexcept
    : provider_(other.provider_),
      handle_(std::move(other.handle_)),
      owned_(std::exchange(other.owned_, false)),
      leak_sink_(other.leak_sink_) {}

ScopedSandbox& ScopedSandbox::operator=(ScopedSandbox&& other) noexcept {
  if (this == &other) return *this;
  DeleteAtScopeEnd();
  provider_ = other.provider_;
  handle_ = std::move(other.handle_);
  owned_ = std::exchange(other.owned_, false);
  leak_sink_ = other.leak_sink_;
  return *this;
}

ScopedSandbox::~ScopedSandbox() { DeleteAtScopeEnd(); }

Result<CodeExecutionResult> ScopedSandbox::RunCode(const RunCodeRequest& request) {
  return provider_->RunCode(handle_, request);
}

Result<bool> ScopedSandbox::Delete(const DeleteSandboxRequest& request) {
  if (!owned_) return false;
  DeleteSandboxRequest silent = request;
  silent.report_leak = false;  // the destructor tries again and reports
  Result<bool> deleted = provider_->DeleteSandbox(handle_, silent);
  if (deleted) owned_ = false;
  return deleted;
}

SandboxHandle ScopedSandbox::Release() {
  owned_ = false;
  return handle_;
}

void ScopedSandbox::DeleteAtScopeEnd() noexcept {
  if (!owned_) return;
  owned_ = false;
  try {
    DeleteSandboxRequest request;
    request.report_leak = leak_sink_ == nullptr;
    const Result<bool> deleted = provider_->DeleteSandbox(handle_, request);
    if (!deleted && leak_sink_ != nullptr) {
      leak_sink_->OnLeak({handle_.provider, handle_.id, "", deleted.error().Describe()});
    }
  } catch (const std::exception&) {
    // Out of memory, or a provider or sink of the user's that throws: a destructor has nobody to tell.
  }
}

}  // namespace opensandbox

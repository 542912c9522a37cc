#include "emulator/core/operation.h"

#include <algorithm>

namespace opensandbox::emulator::operation {

const std::vector<std::string>& All() {
  static const auto* const kAll = new std::vector<std::string>{
      kCreateSandbox,  kListSandboxes, kGetSandbox,      kDeleteSandbox,
      kPauseSandbox,   kResumeSandbox, kRenewExpiration, kPatchSandboxMetadata,
      kGetEndpoint,    kHealth,        kServerProxy,     kPing,
      kRunCode,        kInterruptCode, kCreateContext,   kListContexts,
      kDeleteContexts, kGetContext,    kDeleteContext,   kGetPolicy,
  };
  return *kAll;
}

bool IsKnown(std::string_view name) { return std::find(All().begin(), All().end(), name) != All().end(); }

}  // namespace opensandbox::emulator::operation

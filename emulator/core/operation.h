// Names of the operations, as scenarios, journal and ledger spell them.
#ifndef OPENSANDBOX_EMULATOR_CORE_OPERATION_H_
#define OPENSANDBOX_EMULATOR_CORE_OPERATION_H_

#include <string>
#include <string_view>
#include <vector>

namespace opensandbox::emulator::operation {

// Lifecycle.
inline constexpr char kCreateSandbox[] = "createSandbox";
inline constexpr char kListSandboxes[] = "listSandboxes";
inline constexpr char kGetSandbox[] = "getSandbox";
inline constexpr char kDeleteSandbox[] = "deleteSandbox";
inline constexpr char kPauseSandbox[] = "pauseSandbox";
inline constexpr char kResumeSandbox[] = "resumeSandbox";
inline constexpr char kRenewExpiration[] = "renewExpiration";
inline constexpr char kPatchSandboxMetadata[] = "patchSandboxMetadata";
inline constexpr char kGetEndpoint[] = "getEndpoint";
inline constexpr char kHealth[] = "health";
inline constexpr char kServerProxy[] = "serverProxy";  // a proxied request that is no execd or egress operation
// execd.
inline constexpr char kPing[] = "ping";
inline constexpr char kRunCode[] = "runCode";
inline constexpr char kInterruptCode[] = "interruptCode";
inline constexpr char kCreateContext[] = "createContext";
inline constexpr char kListContexts[] = "listContexts";
inline constexpr char kDeleteContexts[] = "deleteContexts";
inline constexpr char kGetContext[] = "getContext";
inline constexpr char kDeleteContext[] = "deleteContext";
// egress.
inline constexpr char kGetPolicy[] = "getPolicy";
// Anything else.
inline constexpr char kUnknown[] = "unknown";

// All of the above except kUnknown.
const std::vector<std::string>& All();
bool IsKnown(std::string_view name);

}  // namespace opensandbox::emulator::operation

#endif  // OPENSANDBOX_EMULATOR_CORE_OPERATION_H_

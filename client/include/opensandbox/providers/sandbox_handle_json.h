// Handles as text, to be stored and used by another process.
#ifndef OPENSANDBOX_PROVIDERS_SANDBOX_HANDLE_JSON_H_
#define OPENSANDBOX_PROVIDERS_SANDBOX_HANDLE_JSON_H_

#include <string>
#include <string_view>

#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox {

enum class HandleSecrets {
  kLeaveOut,  // neither the API key nor the values of endpoint headers: for logs. An E2B handle then can't run code
  kTokens,    // the endpoint's headers, which hold the sandbox's own tokens
  kAll,       // the API key as well
};

std::string HandleToJson(const SandboxHandle& handle, HandleSecrets secrets = HandleSecrets::kTokens);
// kInvalidArgument: no JSON object with a string `id`, or a member of the wrong type. Unknown members are ignored, so
// that handles of newer versions can be read.
Result<SandboxHandle> HandleFromJson(std::string_view json);

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_SANDBOX_HANDLE_JSON_H_

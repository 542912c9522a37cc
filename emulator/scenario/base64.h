// Bytes that JSON text can't hold.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_BASE64_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace opensandbox::emulator {

// RFC 4648 section 4, padding required, nothing else allowed; nullopt otherwise.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_BASE64_H_

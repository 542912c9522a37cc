// Which host names mean this machine only.
#ifndef OPENSANDBOX_EMULATOR_CONTROL_LOOPBACK_H_
#define OPENSANDBOX_EMULATOR_CONTROL_LOOPBACK_H_

#include <string_view>

namespace opensandbox::emulator {

// "localhost" (any case), an address of 127.0.0.0/8 with four decimal parts, "::1" or "[::1]". Nothing is resolved.
bool IsLoopbackHost(std::string_view host);

// The value of a Host header: a loopback host, with no port or with `port`.
bool IsLoopbackAuthority(std::string_view authority, std::string_view port);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CONTROL_LOOPBACK_H_

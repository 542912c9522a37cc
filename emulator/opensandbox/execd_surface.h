// The daemon inside a sandbox: its router (wire reference 2.2, 2.10).
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_SURFACE_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_SURFACE_H_

#include <string>
#include <string_view>
#include <vector>

#include "emulator/opensandbox/execd_reply.h"

namespace opensandbox::emulator {

// The real daemon's routes. One that is not emulated yet answers 501 with the code NOT_SUPPORTED: a client must not
// take our gap for the daemon's "404 page not found".
struct ExecdRoute {
  std::string_view method;
  std::string_view path;  // "{}" is one segment
  bool emulated = false;
};
const std::vector<ExecdRoute>& ExecdRoutes();

// Any request to port 44772.
ReplyPlan HandleExecd(const PortRequest& request);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_SURFACE_H_

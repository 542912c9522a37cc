// One request on its way through the surfaces.
#ifndef OPENSANDBOX_EMULATOR_SERVICE_CALL_H_
#define OPENSANDBOX_EMULATOR_SERVICE_CALL_H_

#include <string>
#include <vector>

#include "emulator/core/http_message.h"
#include "emulator/core/operation.h"
#include "emulator/core/reply_plan.h"
#include "emulator/service/tenant.h"

namespace opensandbox::emulator {

struct LifecycleSettings;  // emulator/opensandbox/lifecycle_settings.h

enum class Surface { kLifecycle, kServerProxy, kExecd, kEgress };

// What the router made of a request.
struct Route {
  Surface surface = Surface::kLifecycle;
  std::string operation = operation::kUnknown;
  bool known_path = false;        // a route with this path exists
  std::string allow;              // known path, wrong method: the Allow header's value (405)
  bool trailing_slash = false;    // lifecycle: redirect 307
  std::string sandbox_id;         // decoded; empty if the path has none
  std::string port_text;          // of endpoint and proxy paths
  std::string item;               // decoded last parameter: context id, ...
  std::string inner_path;         // execd, egress: the path below the endpoint, still encoded, "/code"
  bool via_server_proxy = false;  // reached through /sandboxes/{id}/proxy/{port}
};

// Everything a handler needs. The tenant's lock is held and store.AdvanceTo(now) was called.
struct Call {
  const Request& request;
  const Route& route;
  Tenant& tenant;
  TimePoint now;
  WallTime wall_now;
  std::uint64_t number = 0;    // of the request in the tenant's journal
  std::string request_id;      // lifecycle's x-request-id
  std::string public_address;  // "127.0.0.1:8080": what endpoints point to
  Profile profile = Profile::kDocker;
  // Handlers may set it: the sandbox created or concerned, for the journal.
  std::string* sandbox_id_out = nullptr;
  std::string* near_miss_out = nullptr;
  std::vector<std::string>* rules_out = nullptr;  // execution and sandbox rules that acted
  // This very request ended a scripted stage (`until`) of the sandbox: the state machine's verdict is that of
  // `state_before`, and the script says what comes next, so the handler does not set a state itself.
  bool stage_left = false;
  std::string state_before;  // of the route's sandbox when the request came; empty if it does not live
  const LifecycleSettings* settings = nullptr;  // null: the defaults
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SERVICE_CALL_H_

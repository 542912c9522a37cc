// The OpenSandbox surfaces: request to ReplyPlan.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_SURFACES_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_SURFACES_H_

#include <memory>
#include <optional>
#include <string>

#include "emulator/service/call.h"

namespace opensandbox::emulator {

// Segment router for all OpenSandbox surfaces. Execd and egress are reached at
//   /sandbox/{id}/proxy/{port}/...        what GET endpoints hands out (no key), and
//   (/v1)?/sandboxes/{id}/proxy/{port}/...  the server proxy.
// Never uses a regular expression; any path length is safe.
Route RouteRequest(const Request& request);

// Authentication of the lifecycle server (wire reference 1.2): true if this route needs a key.
bool NeedsApiKey(const Request& request, const Route& route);
// 401. With the request the answer has what hangs on it: CORS headers, no body after HEAD, `connection: close`.
ReplyPlan MissingApiKey(const Request& request, const std::string& request_id, WallTime wall_now);
ReplyPlan InvalidApiKey(const Request& request, const std::string& request_id, WallTime wall_now);
ReplyPlan MissingApiKey(const std::string& request_id, WallTime wall_now);
ReplyPlan InvalidApiKey(const std::string& request_id, WallTime wall_now);
// The X-Request-ID that the lifecycle server gives its answer (wire reference 1.3): the request's, trimmed, or else
// `fresh`.
std::string RequestIdOf(const Request& request, const std::string& fresh);

// Lifecycle: everything that is not execd or egress; answers 404/405/307 itself.
ReplyPlan HandleLifecycle(Call& call);
// execd and egress by port: 44772 execd, 18080 egress, 8080 and others: refused. `route.via_server_proxy` gives the
// server proxy's headers and its errors.
ReplyPlan HandleSandboxPort(Call& call);

// What a sandbox that has died by itself shows to this request; nullopt: the surface's own answer is right.
std::optional<ReplyPlan> HandleDead(const Call& call, const Sandbox& sandbox);

// The reply of the lifecycle server to a request that is no valid HTTP (400 text/plain, connection closed).
ReplyPlan InvalidHttpReply(WallTime wall_now);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_SURFACES_H_

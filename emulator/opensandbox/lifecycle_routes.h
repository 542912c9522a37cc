// The paths of the lifecycle server, by segments.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_ROUTES_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_ROUTES_H_

#include <string>
#include <string_view>

#include "emulator/core/http_message.h"

namespace opensandbox::emulator {

enum class LifecyclePath {
  kNone,
  kHealth,
  kSandboxes,
  kSandbox,
  kPause,
  kResume,
  kRenewExpiration,
  kMetadata,
  kEndpoint,
  kSandboxSnapshots,
  kSnapshots,
  kSnapshot,
  kDiagnosticsLogs,
  kDiagnosticsEvents,
  kDiagnosticsInspect,
  kDiagnosticsSummary,
  kPools,
  kPool,
  kProxy,
};

struct LifecycleMatch {
  LifecyclePath path = LifecyclePath::kNone;
  std::string sandbox_id;  // or the id of a snapshot, the name of a pool
  std::string port_text;   // as sent
  std::string proxy_rest;  // kProxy: decoded, behind the port, without leading slashes
};

// The path of the request as the server routes it: percent-decoded as a whole (so that %2F is a slash), ill-formed
// UTF-8 replaced, the authority of an absolute-form target dropped.
std::string DecodedPath(const Request& request);
LifecycleMatch MatchLifecyclePath(std::string_view decoded_path);
// The methods of the first route with that path, in the server's spelling of `allow`. The proxy's five come in an order
// that changes with every start of the real server.
std::string_view AllowOf(LifecyclePath path);
// Whether some route with that path takes the method.
bool TakesMethod(LifecyclePath path, std::string_view method);
// The path to redirect to (307) because only its trailing slashes are too many; empty: none.
std::string RedirectTarget(std::string_view decoded_path);

bool IsAllDigits(std::string_view text);
// An OPTIONS request that a browser sends before another one.
bool IsPreflight(const Request& request);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_ROUTES_H_

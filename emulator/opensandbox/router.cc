#include <array>
#include <string>
#include <string_view>

#include "emulator/opensandbox/lifecycle_routes.h"
#include "emulator/opensandbox/lifecycle_validation.h"
#include "emulator/opensandbox/surfaces.h"

namespace opensandbox::emulator {
namespace {

constexpr std::string_view kExecdPort = "44772";
constexpr std::string_view kEgressPort = "18080";

struct InnerRoute {
  std::string_view method, path, operation;
};

constexpr std::array kExecdRoutes = {
    InnerRoute{"GET", "/ping", operation::kPing},
    InnerRoute{"POST", "/code", operation::kRunCode},
    InnerRoute{"DELETE", "/code", operation::kInterruptCode},
    InnerRoute{"POST", "/code/context", operation::kCreateContext},
    InnerRoute{"GET", "/code/contexts", operation::kListContexts},
    InnerRoute{"DELETE", "/code/contexts", operation::kDeleteContexts},
};
constexpr std::array kEgressRoutes = {
    InnerRoute{"GET", "/policy", operation::kGetPolicy},
};

template <typename Routes>
void FindInner(const Routes& routes, const std::string& method, const std::string& path, Route& route) {
  for (const InnerRoute& known : routes) {
    if (known.path != path) continue;
    route.known_path = true;
    if (known.method == method) route.operation = known.operation;
  }
}

// Which operation of execd or egress the request below the endpoint is.
void NameInnerOperation(const std::string& method, Route& route) {
  const std::string path = PercentDecode(route.inner_path, false);
  if (route.port_text == kExecdPort) {
    FindInner(kExecdRoutes, method, path, route);
    static constexpr std::string_view kContexts = "/code/contexts/";
    if (path.size() > kContexts.size() && path.compare(0, kContexts.size(), kContexts) == 0 &&
        path.find('/', kContexts.size()) == std::string::npos) {
      route.known_path = true;
      route.item = path.substr(kContexts.size());
      if (method == "GET") route.operation = operation::kGetContext;
      if (method == "DELETE") route.operation = operation::kDeleteContext;
    }
  } else if (route.port_text == kEgressPort) {
    FindInner(kEgressRoutes, method, path, route);
  }
}

// "/sandbox/{id}/proxy/{port}" with anything below: the form that our own endpoints have.
bool MatchEndpointPath(const Request& request, Route& route) {
  static constexpr std::string_view kPrefix = "/sandbox/";
  static constexpr std::string_view kProxy = "proxy/";
  std::string_view path = request.path;
  if (path.substr(0, kPrefix.size()) != kPrefix) return false;
  path.remove_prefix(kPrefix.size());
  const std::size_t slash = path.find('/');
  if (slash == 0 || slash == std::string_view::npos) return false;
  const std::string_view id = path.substr(0, slash);
  path.remove_prefix(slash + 1);
  if (path.substr(0, kProxy.size()) != kProxy) return false;
  path.remove_prefix(kProxy.size());
  const std::string_view port = path.substr(0, path.find('/'));
  if (!IsAllDigits(port)) return false;
  path.remove_prefix(port.size());

  route.sandbox_id = PercentDecode(id, false);
  route.port_text = port;
  route.inner_path = path.empty() ? "/" : std::string(path);
  route.surface = port == kExecdPort ? Surface::kExecd : port == kEgressPort ? Surface::kEgress : Surface::kServerProxy;
  NameInnerOperation(request.method, route);
  return true;
}

const char* LifecycleOperation(LifecyclePath path, const std::string& method) {
  switch (path) {
    case LifecyclePath::kHealth:
      return operation::kHealth;
    case LifecyclePath::kSandboxes:
      return method == "POST" ? operation::kCreateSandbox : operation::kListSandboxes;
    case LifecyclePath::kSandbox:
      return method == "DELETE" ? operation::kDeleteSandbox : operation::kGetSandbox;
    case LifecyclePath::kPause:
      return operation::kPauseSandbox;
    case LifecyclePath::kResume:
      return operation::kResumeSandbox;
    case LifecyclePath::kRenewExpiration:
      return operation::kRenewExpiration;
    case LifecyclePath::kMetadata:
      return operation::kPatchSandboxMetadata;
    case LifecyclePath::kEndpoint:
      return operation::kGetEndpoint;
    case LifecyclePath::kProxy:
      return operation::kServerProxy;
    default:
      return operation::kUnknown;
  }
}

// Where the still encoded path goes on behind the port of a server-proxy path, leading slashes dropped. Only if the
// encoded path has the same segments as the decoded one can it be kept as it is; otherwise the decoded rest is encoded.
std::string InnerPath(const Request& request, const LifecycleMatch& match) {
  std::string_view path = request.path;
  const std::size_t query_free = path.find("/proxy/");
  if (query_free != std::string_view::npos) {
    std::string_view rest = path.substr(query_free + std::string_view("/proxy/").size());
    rest.remove_prefix(rest.substr(0, rest.find('/')).size());
    while (!rest.empty() && rest.front() == '/') rest.remove_prefix(1);
    if (PercentDecode(rest, false) == match.proxy_rest) return std::string("/").append(rest);
  }
  std::string encoded = "/";
  for (const char c : match.proxy_rest) encoded += c == '/' ? "/" : PercentEncode(std::string_view(&c, 1));
  return encoded;
}

}  // namespace

Route RouteRequest(const Request& request) {
  Route route;
  if (MatchEndpointPath(request, route)) return route;

  const std::string path = DecodedPath(request);
  const LifecycleMatch match = MatchLifecyclePath(path);
  if (match.path == LifecyclePath::kNone) {
    route.trailing_slash = !RedirectTarget(path).empty();
    return route;
  }
  route.known_path = true;
  if (match.path == LifecyclePath::kPool || match.path == LifecyclePath::kSnapshot) {
    route.item = match.sandbox_id;
  } else {
    route.sandbox_id = match.sandbox_id;
  }
  route.port_text = match.port_text;
  if (!TakesMethod(match.path, request.method)) {
    route.allow = AllowOf(match.path);
    return route;
  }
  route.operation = LifecycleOperation(match.path, request.method);
  if (match.path != LifecyclePath::kProxy) return route;

  // A port that is no number never gets as far as the proxy: the lifecycle server refuses it (422).
  const std::optional<WholeNumber> port = ParseWholeNumber(match.port_text);
  if (!port.has_value()) return route;
  route.surface = Surface::kServerProxy;
  route.via_server_proxy = true;
  route.port_text = port->digits;
  route.inner_path = InnerPath(request, match);
  NameInnerOperation(request.method, route);
  return route;
}

}  // namespace opensandbox::emulator

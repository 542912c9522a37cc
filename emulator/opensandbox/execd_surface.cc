#include "emulator/opensandbox/execd_surface.h"

#include <utility>

#include "emulator/opensandbox/execd_code.h"
#include "emulator/opensandbox/server_proxy.h"

namespace opensandbox::emulator {
namespace {

constexpr std::string_view kProxyPrefix = "/proxy/";

std::string_view TakeSegment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

// `item` is what stands for the (last) "{}". Iterative; the pattern is short, the path of any length.
bool Matches(std::string_view pattern, std::string_view path, std::string* item) {
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = TakeSegment(pattern);
    const std::string_view segment = TakeSegment(path);
    if (wanted == "{}") {
      if (segment.empty()) return false;
      *item = segment;
    } else if (wanted != segment) {
      return false;
    }
  }
  return pattern.empty() && path.empty();
}

const ExecdRoute* FindRoute(std::string_view method, std::string_view path, std::string* item) {
  for (const ExecdRoute& route : ExecdRoutes()) {
    if (route.method == method && Matches(route.path, path, item)) return &route;
  }
  return nullptr;
}

// The daemon's answer to a path with a slash too many: 301 for GET, 307 for the others, relative.
ReplyPlan RedirectWithoutSlash(const PortRequest& request) {
  std::string location;
  for (const char c : request.path.substr(0, request.path.size() - 1)) {
    location += c == '/' ? "/" : PercentEncode(std::string_view(&c, 1));
  }
  if (!request.call.request.query.empty()) location += "?" + request.call.request.query;
  if (request.method() != "GET") return GoReply(request, 307, {{"Location", std::move(location)}}, "");
  std::string escaped;
  for (const char c : location) escaped += c == '&' ? "&amp;" : std::string(1, c);
  return GoReply(request, 301, {{"Content-Type", "text/html; charset=utf-8"}, {"Location", std::move(location)}},
                 "<a href=\"" + escaped + "\">Moved Permanently</a>.\n\n");
}

// What is behind "/proxy/" and a port; the port itself in `port`.
std::string_view BehindPort(std::string_view path, std::string* port) {
  path.remove_prefix(kProxyPrefix.size());
  *port = path.substr(0, path.find('/'));
  path.remove_prefix(port->size());
  return path;
}

ReplyPlan Dispatch(const PortRequest& request, const ExecdRoute& route, const std::string& item) {
  const std::string_view path = route.path;
  if (path == "/ping") return GoReply(request, 200, {}, "");
  if (path == "/code") return request.method() == "POST" ? RunCode(request) : InterruptCode(request);
  if (path == "/command") return InterruptCode(request);
  if (path == "/code/context") return CreateContext(request);
  if (path == "/code/contexts") return request.method() == "GET" ? ListContexts(request) : DeleteContexts(request);
  return request.method() == "GET" ? GetContext(request, item) : DeleteContext(request, item);
}

// What the daemon itself answers.
ReplyPlan Answer(const PortRequest& request) {
  const std::string_view path = request.path;
  std::string item;
  if (const ExecdRoute* route = FindRoute(request.method(), path, &item)) {
    if (route->emulated) return Dispatch(request, *route, item);
    return ExecdError(request, 501, "NOT_SUPPORTED",
                      request.method() + " " + request.path + " of execd is not emulated yet");
  }
  if (path.size() > 1 && path.back() == '/' && FindRoute(request.method(), path.substr(0, path.size() - 1), &item)) {
    return RedirectWithoutSlash(request);
  }
  return ExecdNotFound(request);
}

ReplyPlan Returned(bool proxied, ReplyPlan plan) {
  return proxied ? ThroughExecdProxy(std::move(plan)) : std::move(plan);
}

}  // namespace

const std::vector<ExecdRoute>& ExecdRoutes() {
  static const auto* const kRoutes = new std::vector<ExecdRoute>{
      {"GET", "/ping", true},
      {"POST", "/code", true},
      {"DELETE", "/code", true},
      {"POST", "/code/context", true},
      {"GET", "/code/contexts", true},
      {"DELETE", "/code/contexts", true},
      {"GET", "/code/contexts/{}", true},
      {"DELETE", "/code/contexts/{}", true},
      {"DELETE", "/command", true},
      {"POST", "/session"},
      {"POST", "/session/{}/run"},
      {"DELETE", "/session/{}"},
      {"POST", "/command"},
      {"GET", "/command/status/{}"},
      {"GET", "/command/{}/logs"},
      {"GET", "/files/info"},
      {"GET", "/files/search"},
      {"GET", "/files/download"},
      {"POST", "/files/mv"},
      {"POST", "/files/permissions"},
      {"POST", "/files/replace"},
      {"POST", "/files/upload"},
      {"DELETE", "/files"},
      {"GET", "/directories/list"},
      {"POST", "/directories"},
      {"DELETE", "/directories"},
      {"GET", "/metrics"},
      {"GET", "/metrics/watch"},
      {"POST", "/pty"},
      {"GET", "/pty/{}"},
      {"DELETE", "/pty/{}"},
      {"GET", "/pty/{}/ws"},
  };
  return *kRoutes;
}

ReplyPlan HandleExecd(const PortRequest& request) {
  // The daemon may proxy to itself any number of times: a loop, because the path may be long.
  std::string_view path = request.path;
  bool proxied = false;
  while (path.substr(0, kProxyPrefix.size()) == kProxyPrefix) {
    std::string port;
    const std::string_view behind = BehindPort(path, &port);
    if (port.empty()) return Returned(proxied, GoTextError(request, 400, "port is required"));
    if (CanonicalPort(port) != kExecdPort) {
      const std::string inner(behind.empty() ? "/" : behind);
      return Returned(proxied, ProxyToPort({.call = request.call, .sandbox = request.sandbox, .path = inner}, port));
    }
    path = behind.empty() ? "/" : behind;
    proxied = true;
  }
  if (!proxied) return Answer(request);
  return ThroughExecdProxy(Answer({.call = request.call, .sandbox = request.sandbox, .path = std::string(path)}));
}

}  // namespace opensandbox::emulator

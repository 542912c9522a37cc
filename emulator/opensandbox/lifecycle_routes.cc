#include "emulator/opensandbox/lifecycle_routes.h"

#include <algorithm>
#include <array>

#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

struct Template {
  std::string_view collection, tail;
  LifecyclePath path;
};

// /{collection}/{id}/{tail}
constexpr std::array kItemPaths = {
    Template{"sandboxes", "pause", LifecyclePath::kPause},
    Template{"sandboxes", "resume", LifecyclePath::kResume},
    Template{"sandboxes", "renew-expiration", LifecyclePath::kRenewExpiration},
    Template{"sandboxes", "metadata", LifecyclePath::kMetadata},
    Template{"sandboxes", "snapshots", LifecyclePath::kSandboxSnapshots},
    Template{"sandboxes", "diagnostics/logs", LifecyclePath::kDiagnosticsLogs},
    Template{"sandboxes", "diagnostics/events", LifecyclePath::kDiagnosticsEvents},
    Template{"sandboxes", "diagnostics/inspect", LifecyclePath::kDiagnosticsInspect},
    Template{"sandboxes", "diagnostics/summary", LifecyclePath::kDiagnosticsSummary},
    Template{"sandboxes", "", LifecyclePath::kSandbox},
    Template{"snapshots", "", LifecyclePath::kSnapshot},
    Template{"pools", "", LifecyclePath::kPool},
};

// Takes the text up to the next slash (or the end) off the front; the slash goes too.
std::string_view TakeSegment(std::string_view& path) {
  const std::size_t slash = path.find('/');
  const std::string_view segment = path.substr(0, slash);
  path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  return segment;
}

}  // namespace

std::string DecodedPath(const Request& request) {
  std::string_view path = request.path;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (path.substr(0, scheme.size()) != scheme) continue;
    const std::size_t slash = path.find('/', scheme.size());
    path = slash == std::string_view::npos ? std::string_view("/") : path.substr(slash);
    break;
  }
  return ReplaceIllFormedUtf8(PercentDecode(path, false));
}

LifecycleMatch MatchLifecyclePath(std::string_view path) {
  LifecycleMatch match;
  if (path == "/health") {
    match.path = LifecyclePath::kHealth;
    return match;
  }
  if (path.empty() || path.front() != '/') return match;
  path.remove_prefix(1);
  if (path.substr(0, 3) == "v1/") path.remove_prefix(3);

  const bool has_item = path.find('/') != std::string_view::npos;
  const std::string_view collection = TakeSegment(path);
  if (!has_item) {
    if (collection == "sandboxes") match.path = LifecyclePath::kSandboxes;
    if (collection == "snapshots") match.path = LifecyclePath::kSnapshots;
    if (collection == "pools") match.path = LifecyclePath::kPools;
    return match;
  }
  const std::size_t tail_at = path.find('/');
  const std::string_view id = TakeSegment(path);
  if (id.empty() || (tail_at != std::string_view::npos && path.empty())) return match;  // "x/" is no item path
  for (const Template& known : kItemPaths) {
    if (collection == known.collection && path == known.tail) {
      match.path = known.path;
      match.sandbox_id = id;
      return match;
    }
  }
  if (collection != "sandboxes") return match;
  const std::string_view kind = TakeSegment(path);
  if (kind == "endpoints" && !path.empty() && path.find('/') == std::string_view::npos) {
    match.path = LifecyclePath::kEndpoint;
    match.port_text = path;
  } else if (kind == "proxy" && !path.empty() && path.front() != '/') {
    match.path = LifecyclePath::kProxy;
    match.port_text = TakeSegment(path);
    while (!path.empty() && path.front() == '/') path.remove_prefix(1);
    match.proxy_rest = path;
  } else {
    return match;
  }
  match.sandbox_id = id;
  return match;
}

std::string_view AllowOf(LifecyclePath path) {
  switch (path) {
    case LifecyclePath::kSandboxes:
    case LifecyclePath::kPause:
    case LifecyclePath::kResume:
    case LifecyclePath::kRenewExpiration:
    case LifecyclePath::kSandboxSnapshots:
    case LifecyclePath::kPools:
      return "POST";
    case LifecyclePath::kMetadata:
      return "PATCH";
    case LifecyclePath::kProxy:
      return "GET, POST, PUT, DELETE, PATCH";
    default:
      return "GET";
  }
}

bool TakesMethod(LifecyclePath path, std::string_view method) {
  switch (path) {
    case LifecyclePath::kNone:
      return false;
    case LifecyclePath::kSandboxes:
    case LifecyclePath::kPools:
      return method == "POST" || method == "GET";
    case LifecyclePath::kSandbox:
    case LifecyclePath::kSnapshot:
      return method == "GET" || method == "DELETE";
    case LifecyclePath::kPool:
      return method == "GET" || method == "PUT" || method == "DELETE";
    case LifecyclePath::kProxy:
      return method == "GET" || method == "POST" || method == "PUT" || method == "DELETE" || method == "PATCH";
    default:
      return method == AllowOf(path);
  }
}

std::string RedirectTarget(std::string_view path) {
  if (path.size() < 2 || path.back() != '/') return {};
  while (!path.empty() && path.back() == '/') path.remove_suffix(1);
  if (MatchLifecyclePath(path).path == LifecyclePath::kNone) return {};
  return std::string(path);
}

bool IsAllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsPreflight(const Request& request) {
  return request.method == "OPTIONS" && request.FindHeader("origin").has_value() &&
         request.FindHeader("access-control-request-method").has_value();
}

}  // namespace opensandbox::emulator

#include <string>
#include <string_view>

#include "emulator/opensandbox/lifecycle_reply.h"
#include "emulator/opensandbox/lifecycle_routes.h"
#include "emulator/opensandbox/lifecycle_text.h"
#include "emulator/opensandbox/surfaces.h"

namespace opensandbox::emulator {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

}  // namespace

bool NeedsApiKey(const Request& request, const Route& route) {
  if (route.surface != Surface::kLifecycle && !route.via_server_proxy) return false;  // inside a sandbox
  if (IsPreflight(request)) return false;
  const std::string path = DecodedPath(request);
  for (const std::string_view prefix : {"/health", "/docs", "/redoc", "/openapi.json"}) {
    if (StartsWith(path, prefix)) return false;
  }
  const LifecycleMatch match = MatchLifecyclePath(path);
  const bool is_proxy = match.path == LifecyclePath::kProxy && IsAllDigits(match.port_text);
  return !is_proxy || path.find("..") != std::string::npos;
}

std::string RequestIdOf(const Request& request, const std::string& fresh) {
  const std::optional<std::string> given = request.FindHeader("x-request-id");
  if (!given.has_value()) return fresh;
  const std::string_view trimmed = PyStrip(*given);
  return trimmed.empty() ? fresh : std::string(trimmed);
}

ReplyPlan MissingApiKey(const Request& request, const std::string& request_id, WallTime wall_now) {
  return LifecycleReplies(request, request_id, wall_now)
      .Error(401, "MISSING_API_KEY",
             "Authentication credentials are missing. Provide API key via OPEN-SANDBOX-API-KEY header.");
}

ReplyPlan InvalidApiKey(const Request& request, const std::string& request_id, WallTime wall_now) {
  return LifecycleReplies(request, request_id, wall_now)
      .Error(401, "INVALID_API_KEY", "Authentication credentials are invalid. Check your API key and try again.");
}

ReplyPlan MissingApiKey(const std::string& request_id, WallTime wall_now) {
  return MissingApiKey(Request{}, request_id, wall_now);
}

ReplyPlan InvalidApiKey(const std::string& request_id, WallTime wall_now) {
  return InvalidApiKey(Request{}, request_id, wall_now);
}

}  // namespace opensandbox::emulator

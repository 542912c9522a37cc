// The lifecycle server: from a request to the operation that answers it.
#include "emulator/opensandbox/lifecycle_handlers.h"
#include "emulator/opensandbox/lifecycle_text.h"
#include "emulator/opensandbox/surfaces.h"

namespace opensandbox::emulator {
namespace {

// What Python's quote() leaves alone in a redirect's location.
std::string QuoteLocation(std::string_view text) {
  static constexpr std::string_view kSafe = ":/%#?=@[]!$&'()*+,";
  std::string quoted;
  for (const char c : text) {
    const std::string_view one(&c, 1);
    quoted += kSafe.find(c) == std::string_view::npos ? PercentEncode(one) : std::string(one);
  }
  return quoted;
}

std::string RedirectLocation(const Request& request, const std::string& target) {
  const std::optional<std::string> host = request.FindHeader("host");
  std::string location = "http://" + (host.has_value() && !host->empty() ? *host : request.local) + target;
  if (!request.query.empty()) location += "?" + request.query;
  return QuoteLocation(location);
}

ReplyPlan Dispatch(const LifecycleCall& context) {
  const std::string& method = context.call.request.method;
  switch (context.match.path) {
    case LifecyclePath::kHealth:
      return context.replies.Answer(200, "{\"status\":\"healthy\"}");
    case LifecyclePath::kSandboxes:
      return method == "POST" ? CreateSandbox(context) : ListSandboxes(context);
    case LifecyclePath::kSandbox:
      return method == "DELETE" ? DeleteSandbox(context) : GetSandbox(context);
    case LifecyclePath::kPause:
      return PauseSandbox(context);
    case LifecyclePath::kResume:
      return ResumeSandbox(context);
    case LifecyclePath::kRenewExpiration:
      return RenewExpiration(context);
    case LifecyclePath::kMetadata:
      return PatchSandboxMetadata(context);
    case LifecyclePath::kEndpoint:
      return GetEndpoint(context);
    case LifecyclePath::kSandboxSnapshots:
    case LifecyclePath::kSnapshots:
    case LifecyclePath::kSnapshot:
      return HandleSnapshots(context);
    case LifecyclePath::kDiagnosticsLogs:
    case LifecyclePath::kDiagnosticsEvents:
    case LifecyclePath::kDiagnosticsInspect:
    case LifecyclePath::kDiagnosticsSummary:
      return HandleDiagnostics(context);
    case LifecyclePath::kPools:
    case LifecyclePath::kPool:
      return HandlePools(context);
    case LifecyclePath::kProxy: {
      // Only a port that is no number comes here; the others go to the sandbox.
      ValidationErrors errors;
      const Loc path("path");
      CheckInt(Json::String(context.match.port_text), Loc(path, "port"), errors, {});
      return context.replies.Invalid(errors);
    }
    case LifecyclePath::kNone:
      break;
  }
  return context.replies.Detail(404, "Not Found");
}

}  // namespace

ReplyPlan HandleLifecycle(Call& call) {
  const LifecycleReplies replies(call.request, call.request_id, call.wall_now);
  if (IsPreflight(call.request)) return replies.Preflight();
  const std::string path = DecodedPath(call.request);
  const LifecycleMatch match = MatchLifecyclePath(path);
  if (match.path == LifecyclePath::kNone) {
    const std::string target = RedirectTarget(path);
    if (!target.empty()) return replies.Redirect(RedirectLocation(call.request, target));
    return replies.Detail(404, "Not Found");
  }
  if (!TakesMethod(match.path, call.request.method)) return replies.MethodNotAllowed(AllowOf(match.path));
  return Dispatch({call, match, replies, call.settings != nullptr ? *call.settings : DefaultLifecycleSettings()});
}

}  // namespace opensandbox::emulator

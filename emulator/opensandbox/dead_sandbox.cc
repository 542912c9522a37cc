// The faces of a sandbox that has died by itself.
#include "emulator/opensandbox/lifecycle_reply.h"
#include "emulator/opensandbox/surfaces.h"
#include "opensandbox/base/rfc3339.h"

namespace opensandbox::emulator {
namespace {

// As a gateway in front of the provider says it.
constexpr char kBadGatewayPage[] =
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad "
    "Gateway</h1></center>\r\n</body>\r\n</html>\r\n";

ReplyPlan Unanswered(Ending ending) {
  ReplyPlan plan;
  plan.cut = Cut{.at = Cut::At::kBeforeHead, .bytes = 0, .ending = ending};
  return plan;
}

ReplyPlan BadGatewayPage(WallTime wall_now) {
  ReplyPlan plan;
  plan.status = 502;
  plan.body = kBadGatewayPage;
  plan.headers = {{"Date", FormatHttpDate(wall_now)},
                  {"Content-Type", "text/html"},
                  {"Content-Length", std::to_string(plan.body.size())}};
  return plan;
}

// Well-formed, and says nothing.
ReplyPlan NothingAtAll(const Call& call) {
  ReplyPlan plan;
  if (call.route.operation == operation::kRunCode) {
    plan.headers = {{"Content-Type", "text/event-stream"},
                    {"Date", FormatHttpDate(call.wall_now)},
                    {"Transfer-Encoding", "chunked"}};
    plan.chunked = true;
  } else {
    plan.headers = {{"Date", FormatHttpDate(call.wall_now)}, {"Content-Length", "0"}};
  }
  return plan;
}

}  // namespace

std::optional<ReplyPlan> HandleDead(const Call& call, const Sandbox& sandbox) {
  const bool lifecycle = call.route.surface == Surface::kLifecycle;
  const LifecycleReplies replies(call.request, call.request_id, call.wall_now);
  switch (sandbox.behaviour.death->face) {
    case DeathFace::kNotFound:
      if (lifecycle) return std::nullopt;
      return replies.Error(404, "DOCKER::SANDBOX_NOT_FOUND", "Sandbox " + sandbox.id + " not found.");
    case DeathFace::kGone:
      return replies.Error(410, "DOCKER::SANDBOX_NOT_FOUND", "Sandbox " + sandbox.id + " is gone.");
    case DeathFace::kBadGateway:
      return BadGatewayPage(call.wall_now);
    case DeathFace::kReset:
      return Unanswered(Ending::kRst);
    case DeathFace::kBlackHole:
      return Unanswered(Ending::kSilence);
    case DeathFace::kCleanEnd:
      if (lifecycle) return std::nullopt;
      return NothingAtAll(call);
    case DeathFace::kHealthyPing:
      break;
  }
  const bool answers = lifecycle || sandbox.end.has_value() || call.route.operation == operation::kPing ||
                       call.route.operation == operation::kRunCode;
  if (answers) return std::nullopt;
  return Unanswered(Ending::kSilence);
}

}  // namespace opensandbox::emulator

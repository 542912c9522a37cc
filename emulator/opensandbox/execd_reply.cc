#include "emulator/opensandbox/execd_reply.h"

#include <algorithm>
#include <utility>

#include "emulator/opensandbox/execd_event.h"
#include "opensandbox/base/rfc3339.h"

namespace opensandbox::emulator {

ReplyPlan GoReply(const PortRequest& request, int status, std::vector<Header> headers, std::string body) {
  ReplyPlan plan;
  plan.status = status;
  plan.headers = std::move(headers);
  plan.headers.push_back({"Date", FormatHttpDate(request.call.wall_now)});
  plan.headers.push_back({"Content-Length", std::to_string(body.size())});
  if (request.method() != "HEAD") plan.body = std::move(body);
  return plan;
}

ReplyPlan ExecdJson(const PortRequest& request, int status, std::string json) {
  return GoReply(request, status, {{"Content-Type", "application/json; charset=utf-8"}}, std::move(json));
}

ReplyPlan ExecdError(const PortRequest& request, int status, std::string_view code, std::string_view message) {
  return ExecdJson(request, status, BareErrorObject(code, message));
}

ReplyPlan ExecdNotFound(const PortRequest& request) {
  return GoReply(request, 404, {{"Content-Type", "text/plain"}}, "404 page not found");
}

ReplyPlan GoTextError(const PortRequest& request, int status, const std::string& text) {
  return GoReply(request, status,
                 {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}}, text + "\n");
}

ReplyPlan BadGateway(const PortRequest& request) { return GoTextError(request, 502, "Bad Gateway"); }

ReplyPlan ThroughExecdProxy(ReplyPlan plan) {
  std::erase_if(plan.headers,
                [](const Header& header) { return header.name == "Connection" || header.name == "Transfer-Encoding"; });
  std::stable_sort(plan.headers.begin(), plan.headers.end(),
                   [](const Header& a, const Header& b) { return a.name < b.name; });
  if (plan.chunked) plan.headers.push_back({"Transfer-Encoding", "chunked"});
  return plan;
}

}  // namespace opensandbox::emulator

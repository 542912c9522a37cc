// Replies as a Go server writes them: execd and the egress sidecar.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_REPLY_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_REPLY_H_

#include <string>
#include <string_view>
#include <vector>

#include "emulator/core/reply_plan.h"
#include "emulator/service/call.h"

namespace opensandbox::emulator {

inline constexpr char kExecdPort[] = "44772";
inline constexpr char kEgressPort[] = "18080";

// A request as the program behind a port of a sandbox gets it.
struct PortRequest {
  Call& call;
  const Sandbox& sandbox;
  std::string path;  // decoded, with its leading '/'
  const std::string& method() const { return call.request.method; }
  std::string Query(std::string_view name) const { return call.request.QueryValue(name).value_or(""); }
};

// The given headers, then Date and Content-Length. After HEAD the body is counted but not sent.
ReplyPlan GoReply(const PortRequest& request, int status, std::vector<Header> headers, std::string body);
// application/json; charset=utf-8.
ReplyPlan ExecdJson(const PortRequest& request, int status, std::string json);
// {"code","message"}
ReplyPlan ExecdError(const PortRequest& request, int status, std::string_view code, std::string_view message);
// 404 of the router, without a line end.
ReplyPlan ExecdNotFound(const PortRequest& request);
// http.Error: text/plain, nosniff, a line end.
ReplyPlan GoTextError(const PortRequest& request, int status, const std::string& text);
// execd's reverse proxy could not connect: 502 "Bad Gateway".
ReplyPlan BadGateway(const PortRequest& request);

// What a reply looks like after execd's own reverse proxy (/proxy/{port}): headers sorted, hop-by-hop ones gone.
ReplyPlan ThroughExecdProxy(ReplyPlan plan);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_REPLY_H_

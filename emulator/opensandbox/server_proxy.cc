#include "emulator/opensandbox/server_proxy.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "emulator/opensandbox/egress_surface.h"
#include "emulator/opensandbox/execd_surface.h"
#include "emulator/opensandbox/lifecycle_reply.h"
#include "emulator/opensandbox/surfaces.h"
#include "opensandbox/base/rfc3339.h"

namespace opensandbox::emulator {
namespace {

constexpr unsigned kPortMax = 65535;
constexpr char kUnknownError[] = "GENERAL::UNKNOWN_ERROR";

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// Something listens on the port inside the sandbox.
bool Listens(const Sandbox& sandbox, const std::string& port) {
  return port == kExecdPort || (port == kEgressPort && !sandbox.spec.network_policy_json.empty());
}

ReplyPlan AnswerOfPort(const PortRequest& request, const std::string& port) {
  return port == kExecdPort ? HandleExecd(request) : HandleEgress(request);
}

// The state that counts for this request: a scripted stage may have ended with it.
std::string StateFor(const Call& call, const Sandbox& sandbox) {
  return call.stage_left && !call.state_before.empty() ? call.state_before : sandbox.state;
}

// Nobody listens at the address of the endpoint. The port is ours, so the connection can't be refused as it would be;
// it is reset without an answer, which is the nearest thing that can't be taken for one.
ReplyPlan Unreachable() {
  ReplyPlan plan;
  plan.cut = Cut{.at = Cut::At::kBeforeHead, .bytes = 0, .ending = Ending::kRst};
  return plan;
}

// The address in docker's bridge network that a container of that number would have.
std::string ContainerAddress(const Sandbox& sandbox) {
  const std::uint64_t host = (sandbox.number + 1) % 65534;
  return "172.17." + std::to_string(host / 256) + "." + std::to_string(host % 256);
}

// The connection header of a Go or uvicorn server that was asked to close.
void EchoClose(ReplyPlan& plan, const Request& request, const char* name) {
  if (Lower(request.FindHeader("connection").value_or("")) != "close") return;
  std::erase_if(plan.headers, [](const Header& header) { return Lower(header.name) == "connection"; });
  plan.headers.push_back({name, "close"});
}

ReplyPlan HandleEndpoint(Call& call) {
  const Sandbox* sandbox = call.tenant.store->Find(call.route.sandbox_id);
  if (sandbox == nullptr) return Unreachable();
  if (LookUp(StateFor(call, *sandbox), Action::kRunCode).verdict != ActionVerdict::kAllowed) return Unreachable();
  const PortRequest request{.call = call, .sandbox = *sandbox, .path = PercentDecode(call.route.inner_path, false)};
  ReplyPlan plan = CanonicalPort(call.route.port_text) == kExecdPort ? HandleExecd(request)
                                                                     : ProxyToPort(request, call.route.port_text);
  EchoClose(plan, call.request, "Connection");
  return plan;
}

ReplyPlan HandleServerProxy(Call& call) {
  const LifecycleReplies replies(call.request, call.request_id, call.wall_now);
  const std::string port = CanonicalPort(call.route.port_text);
  if (port.empty()) return replies.Error(400, "DOCKER::INVALID_PORT", "Port must be between 1 and 65535.");
  const Sandbox* sandbox = call.tenant.store->Find(call.route.sandbox_id);
  if (sandbox == nullptr) {
    return replies.Error(404, "DOCKER::SANDBOX_NOT_FOUND", "Sandbox " + call.route.sandbox_id + " not found.");
  }
  const std::string state = StateFor(call, *sandbox);
  const bool has_address = state == state::kRunning || state == state::kPausing || state == state::kPaused ||
                           state == state::kResuming || state == state::kStopping;
  if (!has_address) {
    return replies.Error(500, "DOCKER::NETWORK_MODE_ENDPOINT_UNAVAILABLE",
                         "Container is running but has no assigned IP address.");
  }
  const std::string upgrade = Lower(call.request.FindHeader("upgrade").value_or(""));
  if (upgrade == "websocket") {
    const bool handshake =
        Lower(call.request.FindHeader("connection").value_or("")).find("upgrade") != std::string::npos;
    if (!handshake) return replies.Error(400, kUnknownError, "Websocket upgrade is not supported yet");
    return replies.Error(501, kUnknownError, "WebSockets through the server proxy are not emulated yet");
  }
  const bool sidecar = !sandbox->spec.network_policy_json.empty();
  // A frozen process takes no connection in this emulator (see LifecycleTable).
  const bool reachable = LookUp(state, Action::kRunCode).verdict == ActionVerdict::kAllowed;
  if (!reachable || (!sidecar && !Listens(*sandbox, port))) {
    return replies.Error(502, kUnknownError,
                         "Could not connect to the backend sandbox endpoint='" + ContainerAddress(*sandbox) + ":" +
                             port + "' headers=None: All connection attempts failed");
  }
  const PortRequest request{.call = call, .sandbox = *sandbox, .path = PercentDecode(call.route.inner_path, false)};
  // With a sidecar the server goes through the execd that the host maps, and execd's proxy from there.
  return ThroughServerProxy(sidecar ? ProxyToPort(request, port) : AnswerOfPort(request, port), call);
}

}  // namespace

std::string CanonicalPort(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  if (text.size() > 5) return {};
  unsigned port = 0;
  for (const char c : text) port = port * 10 + static_cast<unsigned>(c - '0');
  return port == 0 || port > kPortMax ? std::string() : std::string(text);
}

ReplyPlan ProxyToPort(const PortRequest& request, const std::string& port) {
  const std::string canonical = CanonicalPort(port);
  if (canonical.empty() || !Listens(request.sandbox, canonical)) return BadGateway(request);
  return ThroughExecdProxy(AnswerOfPort(request, canonical));
}

ReplyPlan ThroughServerProxy(ReplyPlan plan, const Call& call) {
  // An answer that never begins stays one; the server would wait too.
  std::vector<Header> headers = {{"date", FormatHttpDate(call.wall_now)}, {"server", "uvicorn"}};
  for (Header& header : plan.headers) {
    std::string name = Lower(header.name);
    if (name == "connection" || name == "transfer-encoding" || name == "x-request-id") continue;
    headers.push_back({std::move(name), std::move(header.value)});
  }
  if (const auto origin = call.request.FindHeader("origin"); origin.has_value()) {
    headers.push_back({"access-control-allow-origin", *origin});
    headers.push_back({"access-control-allow-credentials", "true"});
    headers.push_back({"vary", "Origin"});
  }
  headers.push_back({"x-request-id", call.request_id});
  if (plan.chunked) headers.push_back({"transfer-encoding", "chunked"});
  plan.headers = std::move(headers);
  EchoClose(plan, call.request, "connection");
  return plan;
}

ReplyPlan HandleSandboxPort(Call& call) {
  if (call.sandbox_id_out != nullptr) *call.sandbox_id_out = call.route.sandbox_id;
  return call.route.via_server_proxy ? HandleServerProxy(call) : HandleEndpoint(call);
}

}  // namespace opensandbox::emulator

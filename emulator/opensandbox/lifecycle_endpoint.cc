// GET /sandboxes/{id}/endpoints/{port}.
#include "emulator/opensandbox/lifecycle_handlers.h"
#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

constexpr std::int64_t kPortMax = 65535;
constexpr char kEgressPort[] = "18080";

// The behaviour that the scenario gives the look-up. Docker has no readiness of endpoints; what it lacks is answered in
// the words of the Kubernetes runtime, the only ones the API has for it.
bool IsReady(const LifecycleCall& context, Sandbox& sandbox) {
  const EndpointBehaviour& behaviour = sandbox.behaviour.endpoint;
  const int earlier = sandbox.endpoint_polls++;
  if (behaviour.never) return false;
  if (behaviour.ready_after.has_value() && context.call.now < sandbox.created + *behaviour.ready_after) return false;
  return !behaviour.ready_after_polls.has_value() || earlier >= *behaviour.ready_after_polls;
}

std::string PortOfAddress(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const bool in_brackets = colon != std::string::npos && address.find(']', colon) != std::string::npos;
  return colon == std::string::npos || in_brackets ? "" : address.substr(colon);
}

// TCP's port 1 has had no service for decades; the system refuses connections to it.
constexpr char kRefusedAddress[] = "127.0.0.1:1";

std::string EndpointText(const LifecycleCall& context, const std::string& id, const std::string& port, bool via_proxy) {
  const std::string& own = context.call.public_address;
  const std::string_view external = PyStrip(context.settings.external_host);
  if (via_proxy) return (external.empty() ? own : std::string(external)) + "/sandboxes/" + id + "/proxy/" + port;
  const std::string host = external.empty() ? own : std::string(external) + PortOfAddress(own);
  // The real server publishes ports of its own for each sandbox; ours all share the one listener.
  return host + "/sandbox/" + id + "/proxy/" + port;
}

}  // namespace

ReplyPlan GetEndpoint(const LifecycleCall& context) {
  const Request& request = context.call.request;
  ValidationErrors errors;
  const Loc path("path");
  const Loc query("query");
  const std::optional<WholeNumber> port =
      CheckInt(Json::String(context.match.port_text), Loc(path, "port"), errors, {});
  bool via_proxy = false;
  if (const auto values = request.QueryValues("use_server_proxy"); !values.empty()) {
    const Json value = Json::String(ReplaceIllFormedUtf8(values.back()));
    via_proxy = CheckBool(value, Loc(query, "use_server_proxy"), errors).value_or(false);
  }
  const bool has_expires = !request.QueryValues("expires").empty();
  ReadIntQuery(request, "expires", {}, {"0", 0}, errors);
  if (!errors.empty()) return context.replies.Invalid(errors);

  if (via_proxy && has_expires) {
    return context.replies.Error(
        400, "SANDBOX::INVALID_PARAMETER",
        "use_server_proxy cannot be combined with expires; signed endpoints require the gateway route.");
  }
  if (has_expires) {
    return context.replies.Error(400, "SANDBOX::API_NOT_SUPPORTED",
                                 "Signed routes (expires parameter) are not supported when runtime.type='docker'. Use "
                                 "the Kubernetes runtime for signed routes.");
  }
  if (*port < 1 || *port > kPortMax) {
    return context.replies.Error(400, "DOCKER::INVALID_PORT", "Port must be between 1 and 65535.");
  }
  Sandbox* sandbox = FindSandbox(context);
  if (sandbox == nullptr) return SandboxNotFound(context);
  if (!IsReady(context, *sandbox)) {
    return context.replies.Error(404, "KUBERNETES::POD_IP_NOT_AVAILABLE",
                                 "Pod IP is not yet available. The Pod may still be starting.");
  }
  std::string body = "{";
  if (!sandbox->behaviour.endpoint.omit_endpoint) {
    body.append("\"endpoint\":");
    AppendJsonString(body, sandbox->behaviour.endpoint.refused
                               ? kRefusedAddress
                               : EndpointText(context, sandbox->id, port->digits, via_proxy));
  }
  std::vector<std::pair<std::string, std::string>> headers = sandbox->behaviour.endpoint.headers;
  if (port->digits == kEgressPort && !sandbox->egress_token.empty()) {
    headers.insert(headers.begin(), {"OPENSANDBOX-EGRESS-AUTH", sandbox->egress_token});
  }
  if (!headers.empty()) {
    body.append(body.size() > 1 ? ",\"headers\":{" : "\"headers\":{");
    for (std::size_t i = 0; i < headers.size(); ++i) {
      if (i > 0) body.push_back(',');
      AppendJsonString(body, headers[i].first);
      body.push_back(':');
      AppendJsonString(body, headers[i].second);
    }
    body.push_back('}');
  }
  body.push_back('}');
  return context.replies.Answer(200, std::move(body));
}

}  // namespace opensandbox::emulator

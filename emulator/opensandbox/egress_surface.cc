#include "emulator/opensandbox/egress_surface.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/opensandbox/execd_json.h"

namespace opensandbox::emulator {
namespace {

constexpr char kTokenHeader[] = "OPENSANDBOX-EGRESS-AUTH";
constexpr char kPolicyMethods[] = "GET, POST, PUT, PATCH, DELETE";
constexpr std::string_view kVault = "/credential-vault";

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string TextOf(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

ReplyPlan NotEmulated(const PortRequest& request) {
  return GoTextError(request, 501,
                     request.method() + " " + request.path + " of the egress sidecar is not emulated yet");
}

ReplyPlan MethodNotAllowed(const PortRequest& request, const std::string& allow) {
  ReplyPlan plan = GoTextError(request, 405, "method not allowed");
  plan.headers.insert(plan.headers.begin(), {"Allow", allow});
  return plan;
}

ReplyPlan HandlePolicy(const PortRequest& request) {
  const std::string& token = request.sandbox.egress_token;  // empty: a sidecar without one lets everybody in
  if (!token.empty() && request.call.request.FindHeader(kTokenHeader).value_or("") != token) {
    return GoTextError(request, 401, "unauthorized");
  }
  const std::string& method = request.method();
  if (method == "GET") {
    return GoReply(request, 200, {{"Content-Type", "application/json"}},
                   EgressPolicyJson(request.sandbox.spec.network_policy_json));
  }
  const bool known = method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
  return known ? NotEmulated(request) : MethodNotAllowed(request, kPolicyMethods);
}

// Go's path.Clean with the trailing slash kept: "//policy" is "/policy".
std::string CleanPath(const std::string& path) {
  std::vector<std::string_view> kept;
  std::string_view rest = path;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(segment.size());
    if (segment == ".." && !kept.empty()) kept.pop_back();
    if (!segment.empty() && segment != "." && segment != "..") kept.push_back(segment);
  }
  std::string clean;
  for (const std::string_view segment : kept) clean.append(1, '/').append(segment);
  if (clean.empty() || path.back() == '/') clean.push_back('/');
  return clean;
}

// What Go's request multiplexer does with a path that is not clean, before anything else looks at it.
ReplyPlan RedirectToCleanPath(const PortRequest& request, const std::string& clean) {
  const bool shown = request.method() == "GET" || request.method() == "HEAD";
  std::vector<Header> headers = {{"Location", clean}};
  if (!shown) return GoReply(request, 301, std::move(headers), "");
  headers.insert(headers.begin(), {"Content-Type", "text/html; charset=utf-8"});
  return GoReply(request, 301, std::move(headers), "<a href=\"" + clean + "\">Moved Permanently</a>.\n\n");
}

}  // namespace

ReplyPlan HandleEgress(const PortRequest& request) {
  // Only what needs no escaping is redirected.
  static constexpr char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._~-";
  if (request.path.find_first_not_of(kPlain) == std::string::npos) {
    if (const std::string clean = CleanPath(request.path); clean != request.path) {
      return RedirectToCleanPath(request, clean);
    }
  }
  if (request.path == "/healthz") {
    // Any method, no token; Go writes the headers of this one in another order than those of its errors.
    ReplyPlan plan = GoReply(request, 200, {}, "ok");
    plan.headers.push_back({"Content-Type", "text/plain; charset=utf-8"});
    return plan;
  }
  if (request.path == "/policy") return HandlePolicy(request);
  if (request.path == kVault || request.path.compare(0, kVault.size() + 1, std::string(kVault) + "/") == 0) {
    return NotEmulated(request);
  }
  return GoTextError(request, 404, "404 page not found");
}

std::string EgressPolicyJson(const std::string& network_policy_json) {
  const nlohmann::json policy = nlohmann::json::parse(network_policy_json, nullptr, false);
  std::string default_action = Lower(TextOf(policy.is_object() ? policy : nlohmann::json::object(), "defaultAction"));
  if (default_action.empty()) default_action = "deny";
  std::string rules = "null";
  bool has_rules = false;
  if (policy.is_object() && policy.contains("egress") && policy["egress"].is_array()) {
    rules = "[";
    for (const nlohmann::json& rule : policy["egress"]) {
      if (!rule.is_object()) continue;
      std::string action = Lower(TextOf(rule, "action"));
      if (action.empty()) action = "deny";
      if (has_rules) rules.push_back(',');
      has_rules = true;
      rules += "{\"action\":";
      AppendGoString(rules, action);
      rules += ",\"target\":";
      AppendGoString(rules, Trimmed(TextOf(rule, "target")));
      rules.push_back('}');
    }
    rules.push_back(']');
  }
  const char* mode = "enforcing";
  if (!has_rules && default_action == "deny") mode = "deny_all";
  if (!has_rules && default_action == "allow") mode = "allow_all";
  std::string body = "{\"status\":\"ok\",\"mode\":\"" + std::string(mode) +
                     "\",\"enforcementMode\":\"dns\",\"policy\":{\"egress\":" + rules + ",\"defaultAction\":";
  AppendGoString(body, default_action);
  body += "}}\n";
  return body;
}

}  // namespace opensandbox::emulator

// What the E2B provider writes and reads.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/providers/e2b_provider_impl.h"
#include "client/providers/utf8.h"
#include "client/transport/url.h"

namespace opensandbox::internal {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDepthMax = 64;
constexpr std::size_t kHostLabelMax = 63;
constexpr std::size_t kPortPrefixBytes = 6;  // "49999-"

Json ParseJson(std::string_view text) {
  return Json::parse(
      text, [](int depth, Json::parse_event_t, Json&) { return depth <= kDepthMax; }, false);
}

std::string StringOf(const Json& object, const char* key) {
  const auto it = object.is_object() ? object.find(key) : object.end();
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

Error InvalidArgument(std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.message = std::move(message);
  return error;
}

// No excerpt: these answers hold tokens.
Error ProtocolError(const std::string& operation, const HttpResponse& response, const std::string& what) {
  Error error;
  error.kind = ErrorKind::kProtocol;
  error.operation = operation;
  error.http_status = response.status;
  error.outcome = Outcome::kHappened;
  error.message = "E2B " + operation + " answered " + std::to_string(response.status) + " with " + what;
  return error;
}

bool IsUtf8(const std::map<std::string, std::string>& map) {
  return std::all_of(map.begin(), map.end(),
                     [](const auto& entry) { return IsValidUtf8(entry.first) && IsValidUtf8(entry.second); });
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

Result<E2bSandbox> ParseE2bSandbox(const std::string& operation, const HttpResponse& response) {
  const Json json = ParseJson(response.body);
  if (json.is_discarded()) return ProtocolError(operation, response, "a body that is not JSON");
  if (!json.is_object()) return ProtocolError(operation, response, "JSON that is no object");
  E2bSandbox sandbox;
  sandbox.id = StringOf(json, "sandboxID");
  sandbox.domain = StringOf(json, "domain");
  sandbox.access_token = StringOf(json, "envdAccessToken");
  sandbox.traffic_token = StringOf(json, "trafficAccessToken");
  if (sandbox.id.empty()) return ProtocolError(operation, response, "no sandbox id");
  if (!CheckSandboxId(sandbox.id)) return ProtocolError(operation, response, "an impossible sandbox id");
  if (!CheckApiKey(sandbox.access_token) || !CheckApiKey(sandbox.traffic_token)) {
    return ProtocolError(operation, response, "a token that no header can hold");
  }
  return sandbox;
}

Result<std::vector<SandboxRecord>> ParseE2bList(const HttpResponse& response) {
  const Json json = ParseJson(response.body);
  if (!json.is_array()) return ProtocolError("listSandboxes", response, "no list of sandboxes");
  std::vector<SandboxRecord> records;
  for (const Json& item : json) {
    if (!item.is_object()) continue;
    SandboxRecord record;
    record.id = StringOf(item, "sandboxID");
    record.status.state = StringOf(item, "state");
    const auto metadata = item.find("metadata");
    if (metadata != item.end()) record.create_tag = StringOf(*metadata, kCreateTagKey);
    records.push_back(std::move(record));
  }
  return records;
}

Result<std::string> E2bCreateBody(const CreateSandboxRequest& request, const std::string& create_tag) {
  const std::string image = request.image && !request.image->empty() ? *request.image : kE2bDefaultTemplate;
  if (!IsValidUtf8(image) || !IsUtf8(request.metadata) || !IsUtf8(request.env)) {
    return InvalidArgument("A text of the create request is not UTF-8.");
  }
  if (request.network_policy_json) {
    return InvalidArgument("E2B knows no network_policy_json; use allow_internet_access.");
  }
  std::map<std::string, std::string> metadata = request.metadata;
  if (!metadata.emplace(kCreateTagKey, create_tag).second) {
    return InvalidArgument(std::string("The metadata key \"") + kCreateTagKey + "\" is the client's own.");
  }
  Json body = {{"templateID", image},
               {"timeout", request.timeout_seconds.value_or(kDefaultSandboxTimeoutSeconds)},
               {"secure", true},
               {"allow_internet_access", request.allow_internet_access.value_or(true)},
               {"metadata", metadata}};
  if (!request.env.empty()) body["envVars"] = request.env;
  return body.dump();
}

Result<std::string> E2bRunBody(const RunCodeRequest& request) {
  if (!IsValidUtf8(request.code)) return InvalidArgument("The code is not UTF-8.");
  if (!IsValidUtf8(request.language)) return InvalidArgument("The language is not UTF-8.");
  Json body = {{"code", request.code}, {"context_id", nullptr}, {"env_vars", nullptr}};
  if (!request.language.empty() && request.language != "python") body["language"] = request.language;
  return body.dump();
}

std::string E2bCreateTagQuery(const std::string& create_tag) {
  const auto thrice = [](const std::string& text) { return PercentEncode(PercentEncode(PercentEncode(text))); };
  return "metadata=" + thrice(kCreateTagKey) + "%3D" + thrice(create_tag);
}

Result<std::string> CheckedE2bUrl(const std::string& url, const std::string& what) {
  std::string trimmed = url;
  while (!trimmed.empty() && trimmed.back() == '/') trimmed.pop_back();
  if (trimmed.find_first_of("?#") != std::string::npos) {
    return InvalidArgument("E2B " + what + " may have no query and no fragment.");
  }
  if (!ParseUrl(trimmed)) {
    return InvalidArgument("E2B " + what + " must be an http:// or https:// URL without user information.");
  }
  return trimmed;
}

bool IsAllowedE2bDomain(const std::string& domain, const std::vector<std::string>& allowed) {
  const std::string host = Lower(domain.substr(0, domain.find(':')));
  const std::string port = domain.size() > host.size() ? domain.substr(host.size() + 1) : "";
  const bool is_name = !host.empty() && host.front() != '.' && host.back() != '.' &&
                       host.find("..") == std::string::npos &&
                       std::all_of(host.begin(), host.end(), [](char c) { return IsWordCharacter(c) || c == '.'; });
  const bool has_empty_port = domain.size() > host.size() && port.empty();
  if (!is_name || has_empty_port || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  return std::any_of(allowed.begin(), allowed.end(), [&host](const std::string& entry) {
    const std::string suffix = Lower(entry.substr(0, entry.find(':')));
    if (suffix.empty()) return false;
    return host == suffix || (host.size() > suffix.size() && host.ends_with("." + suffix));
  });
}

bool IsHostLabelTail(const std::string& id) {
  return !id.empty() && id.size() <= kHostLabelMax - kPortPrefixBytes &&
         std::all_of(id.begin(), id.end(), IsWordCharacter);
}

}  // namespace opensandbox::internal

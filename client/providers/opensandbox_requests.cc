// What the OpenSandbox provider writes.
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/providers/opensandbox_wire.h"
#include "client/providers/utf8.h"
#include "client/transport/url.h"
#include "opensandbox/providers/opensandbox_provider.h"

namespace opensandbox::internal {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kSandboxIdBytesMax = 256;

Error InvalidArgument(std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.message = std::move(message);
  return error;
}

// The members of one JSON object in the order of their adding, so that a given text can be one of them.
class ObjectText {
 public:
  void Add(std::string_view key, std::string_view json_text) {
    text_ += text_.size() == 1 ? "\"" : ",\"";
    text_.append(key).append("\":").append(json_text);
  }
  void Add(std::string_view key, const Json& value) { Add(key, std::string_view(value.dump())); }
  std::string Finish() && { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

Json ToJson(const std::map<std::string, std::string>& map) {
  Json object = Json::object();
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

bool IsValidUtf8(const std::map<std::string, std::string>& map) {
  for (const auto& [key, value] : map) {
    if (!internal::IsValidUtf8(key) || !internal::IsValidUtf8(value)) return false;
  }
  return true;
}

}  // namespace

std::string PercentEncode(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                            c == '.' || c == '_' || c == '~';
    if (unreserved) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

std::string PythonSeconds(Duration duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  const double size = std::abs(seconds);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  char digits[64];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), seconds,
                                          fixed ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(digits, end);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string Excerpt(std::string_view body) {
  constexpr std::size_t kBytesMax = 200;
  const std::string repaired = RepairUtf8(body.substr(0, kBytesMax + 4));
  std::string text = "\"";
  text += Utf8Prefix(repaired, kBytesMax);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text + (body.size() > kBytesMax ? "...\"" : "\"");
}

Result<std::string> CheckedApiBase(const std::optional<std::string>& base) {
  if (!base || base->empty()) {
    return InvalidArgument("OpenSandbox api_base is required. Pass api_base or set OPEN_SANDBOX_API_BASE.");
  }
  std::string trimmed = *base;
  while (!trimmed.empty() && trimmed.back() == '/') trimmed.pop_back();
  if (trimmed.find_first_of("?#") != std::string::npos) {
    return InvalidArgument("OpenSandbox api_base may have no query and no fragment.");
  }
  // What is wrong is told without the text itself, which may hold a password.
  if (!ParseUrl(trimmed)) {
    return InvalidArgument("OpenSandbox api_base must be an http:// or https:// URL without user information.");
  }
  return trimmed;
}

Result<void> CheckSandboxId(const std::string& id) {
  if (id.empty()) return InvalidArgument("The sandbox id is empty.");
  if (id == "." || id == "..") return InvalidArgument("\"" + id + "\" is no sandbox id.");
  if (id.size() > kSandboxIdBytesMax) {
    return InvalidArgument("A sandbox id has at most " + std::to_string(kSandboxIdBytesMax) + " bytes, this one has " +
                           std::to_string(id.size()) + ".");
  }
  return {};
}

Result<void> CheckApiKey(const std::string& key) {
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7E) return InvalidArgument("The API key has a character that no header can hold.");
  }
  return {};
}

Result<std::string> CreateBody(const CreateSandboxRequest& request, const std::string& create_tag) {
  const std::string image = request.image && !request.image->empty() ? *request.image : kDefaultImage;
  std::vector<std::string> entrypoint = request.entrypoint;
  if (entrypoint.empty()) entrypoint = {kDefaultEntrypoint};
  bool valid = internal::IsValidUtf8(image);
  for (const std::string& word : entrypoint) valid = valid && internal::IsValidUtf8(word);
  for (const auto* map : {&request.resource_limits, &request.resource_requests, &request.metadata, &request.env}) {
    valid = valid && IsValidUtf8(*map);
  }
  if (!valid) return InvalidArgument("A text of the create request is not UTF-8.");
  std::map<std::string, std::string> metadata = request.metadata;
  if (!metadata.emplace(kCreateTagKey, create_tag).second) {
    return InvalidArgument(std::string("The metadata key \"") + kCreateTagKey + "\" is the client's own.");
  }

  ObjectText body;
  body.Add("image", Json{{"uri", image}});
  body.Add("entrypoint", Json(entrypoint));
  body.Add("timeout", Json(request.timeout_seconds.value_or(kDefaultSandboxTimeoutSeconds)));
  body.Add("resourceLimits",
           request.resource_limits.empty() ? Json{{"cpu", "1"}, {"memory", "2Gi"}} : ToJson(request.resource_limits));
  body.Add("metadata", ToJson(metadata));
  if (!request.env.empty()) body.Add("env", ToJson(request.env));
  if (!request.resource_requests.empty()) body.Add("resourceRequests", ToJson(request.resource_requests));
  if (request.network_policy_json) {
    const Json policy = Json::parse(*request.network_policy_json, nullptr, false);
    if (!policy.is_object()) return InvalidArgument("network_policy_json is no JSON object.");
    body.Add("networkPolicy", std::string_view(*request.network_policy_json));
  } else if (!request.allow_internet_access.value_or(false)) {
    body.Add("networkPolicy", Json{{"defaultAction", "deny"}, {"egress", Json::array()}});
  }
  if (request.secure_access) body.Add("secureAccess", Json(true));
  return std::move(body).Finish();
}

Result<std::string> RunBody(const RunCodeRequest& request) {
  if (!internal::IsValidUtf8(request.code)) return InvalidArgument("The code is not UTF-8.");
  if (!internal::IsValidUtf8(request.language)) return InvalidArgument("The language is not UTF-8.");
  return Json{{"code", request.code}, {"context", {{"language", request.language}}}}.dump();
}

std::vector<HeaderField> LifecycleHeaders(const std::string& api_key) {
  std::vector<HeaderField> headers = {{"Content-Type", "application/json"}};
  if (!api_key.empty()) headers.push_back({"OPEN-SANDBOX-API-KEY", api_key});
  return headers;
}

std::string CreateTagQuery(const std::string& create_tag) {
  return "metadata=" + PercentEncode(std::string(kCreateTagKey) + "=" + create_tag);
}

}  // namespace opensandbox::internal

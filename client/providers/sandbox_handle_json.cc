#include "opensandbox/providers/sandbox_handle_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace opensandbox {
namespace {

using Json = nlohmann::ordered_json;

Error InvalidArgument(std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.message = std::move(message);
  return error;
}

// False: it is there and no string.
bool ReadString(const Json& object, const char* key, std::string& value) {
  const auto it = object.find(key);
  if (it == object.end()) return true;
  if (!it->is_string()) return false;
  value = it->get<std::string>();
  return true;
}

}  // namespace

std::string HandleToJson(const SandboxHandle& handle, HandleSecrets secrets) {
  Json json = {{"id", handle.id}, {"provider", handle.provider}, {"domain", handle.domain}};
  if (!handle.api_base.empty()) json["api_base"] = handle.api_base;
  if (!handle.execd_endpoint.empty()) json["execd_endpoint"] = handle.execd_endpoint;
  if (!handle.execd_headers.empty() && secrets != HandleSecrets::kLeaveOut) {
    Json& headers = json["execd_headers"] = Json::array();
    for (const HeaderField& field : handle.execd_headers) headers.push_back(Json::array({field.name, field.value}));
  }
  if (handle.use_server_proxy) json["use_server_proxy"] = true;
  if (handle.api_key && secrets == HandleSecrets::kAll) json["api_key"] = *handle.api_key;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SandboxHandle> HandleFromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return InvalidArgument("A stored sandbox handle must be a JSON object.");
  SandboxHandle handle;
  std::string api_key;
  const std::pair<const char*, std::string*> texts[] = {{"id", &handle.id},
                                                        {"provider", &handle.provider},
                                                        {"domain", &handle.domain},
                                                        {"api_base", &handle.api_base},
                                                        {"execd_endpoint", &handle.execd_endpoint},
                                                        {"api_key", &api_key}};
  for (const auto& [key, value] : texts) {
    if (!ReadString(json, key, *value))
      return InvalidArgument(std::string("The handle's ") + key + " must be a string.");
  }
  if (handle.id.empty()) return InvalidArgument("The handle's id is missing.");
  if (json.contains("api_key")) handle.api_key = std::move(api_key);
  const auto proxy = json.find("use_server_proxy");
  if (proxy != json.end() && !proxy->is_boolean()) {
    return InvalidArgument("The handle's use_server_proxy must be true or false.");
  }
  handle.use_server_proxy = proxy != json.end() && proxy->get<bool>();
  const auto headers = json.find("execd_headers");
  if (headers == json.end()) return handle;
  bool good = headers->is_array();
  for (std::size_t i = 0; good && i < headers->size(); ++i) {
    const Json& field = (*headers)[i];
    good = field.is_array() && field.size() == 2 && field[0].is_string() && field[1].is_string();
    if (good) handle.execd_headers.push_back({field[0].get<std::string>(), field[1].get<std::string>()});
  }
  if (!good) return InvalidArgument("The handle's execd_headers must be a list of pairs of strings.");
  return handle;
}

}  // namespace opensandbox

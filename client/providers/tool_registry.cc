#include "opensandbox/providers/tool_registry.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace opensandbox {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kEnvPrefix = "os.environ/";
// Longer settings are no seconds but a slip of units.
constexpr double kSecondsMax = 10.0 * 365 * 86400;

std::optional<std::string> ProcessEnv(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// Reads the members of one entry's parameters and remembers the first that is wrong.
class ParamsReader {
 public:
  ParamsReader(const Json& params, const SandboxToolRegistry::GetEnv& getenv) : params_(params), getenv_(getenv) {}

  // Contract: key and base of the wrong type count as not given.
  std::optional<std::string> Secret(const char* key) const {
    const Json* value = Find(key);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    std::string text = value->get<std::string>();
    if (text.rfind(kEnvPrefix, 0) != 0) return text;
    return getenv_(text.substr(kEnvPrefix.size()));
  }

  std::optional<std::string> Text(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) return Wrong<std::string>(key, "a string");
    return value->get<std::string>();
  }

  std::optional<bool> Bool(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_boolean()) return Wrong<bool>(key, "true or false");
    return value->get<bool>();
  }

  std::optional<std::uint64_t> Whole(const char* key, std::uint64_t max) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > max) {
      return Wrong<std::uint64_t>(key, "a whole number that is not negative and not too large");
    }
    return value->get<std::uint64_t>();
  }

  std::optional<Duration> Seconds(const char* key) {
    const Json* value = Find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number() || !(value->get<double>() > 0) || value->get<double>() > kSecondsMax) {
      return Wrong<Duration>(key, "a number of seconds above 0");
    }
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value->get<double>()));
  }

  std::map<std::string, std::string> Map(const char* key) {
    const Json* value = Find(key);
    std::map<std::string, std::string> map;
    if (value == nullptr) return map;
    bool good = value->is_object();
    if (good) {
      for (const auto& [name, text] : value->items()) {
        good = good && text.is_string();
        if (text.is_string()) map[name] = text.get<std::string>();
      }
    }
    if (!good) (void)Wrong<bool>(key, "an object of strings");
    return map;
  }

  const std::string& wrong() const { return wrong_; }

 private:
  // Null: absent, or a JSON null.
  const Json* Find(const char* key) const {
    const auto it = params_.find(key);
    return it == params_.end() || it->is_null() ? nullptr : &*it;
  }

  template <typename T>
  std::optional<T> Wrong(const char* key, const char* expected) {
    if (wrong_.empty()) wrong_ = std::string("litellm_params.") + key + " must be " + expected;
    return std::nullopt;
  }

  const Json& params_;
  const SandboxToolRegistry::GetEnv& getenv_;
  std::string wrong_;
};

std::string StringMember(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

}  // namespace

CreateSandboxRequest SandboxToolParams::CreateRequest(std::stop_token stop) const {
  CreateSandboxRequest request;
  request.image = image;
  request.timeout_seconds = timeout_seconds;
  // Said in any case: E2B would give the internet to whoever does not say.
  request.allow_internet_access = allow_internet_access.value_or(false);
  request.env = env;
  request.metadata = metadata;
  request.api_key = api_key;
  request.api_base = api_base;
  request.stop = std::move(stop);
  return request;
}

RunCodeRequest SandboxToolParams::RunRequest(std::string code, std::stop_token stop) const {
  RunCodeRequest request;
  request.code = std::move(code);
  request.language = language;
  request.run_deadline = run_deadline;
  request.idle_timeout = idle_timeout;
  request.output_bytes_max = output_bytes_max;
  request.api_key = api_key;
  request.stop = std::move(stop);
  return request;
}

DeleteSandboxRequest SandboxToolParams::DeleteRequest() const {
  DeleteSandboxRequest request;
  request.api_key = api_key;
  request.api_base = api_base;
  return request;
}

SandboxToolRegistry::SandboxToolRegistry(GetEnv getenv)
    : getenv_(getenv ? std::move(getenv) : GetEnv(ProcessEnv)), tools_(std::make_shared<const Tools>()) {}

Result<SandboxToolRegistry::Warnings> SandboxToolRegistry::RegisterJson(std::string_view tools_json) {
  const Json list = Json::parse(tools_json, nullptr, false);
  if (!list.is_array()) {
    Error error;
    error.kind = ErrorKind::kInvalidArgument;
    error.message = "sandbox_tools must be a JSON list of tools.";
    return error;
  }
  Warnings warnings;
  auto tools = std::make_shared<Tools>();
  std::size_t index = 0;
  for (const Json& entry : list) {
    const std::string place = "sandbox_tools[" + std::to_string(index++) + "]";
    const auto skip = [&](const std::string& why) { warnings.push_back(place + " was skipped: " + why); };
    if (!entry.is_object()) {
      skip("it is no object");
      continue;
    }
    auto tool = std::make_shared<SandboxTool>();
    tool->name = StringMember(entry, "sandbox_tool_name");
    if (tool->name.empty()) {
      skip("sandbox_tool_name must be a string that is not empty");
      continue;
    }
    const auto found = entry.find("litellm_params");
    const Json params = found != entry.end() && found->is_object() ? *found : Json::object();
    tool->params.sandbox_provider = StringMember(params, "sandbox_provider");
    if (tool->params.sandbox_provider.empty()) {
      skip("litellm_params.sandbox_provider must be a string that is not empty");
      continue;
    }
    ParamsReader reader(params, getenv_);
    tool->params.api_key = reader.Secret("api_key");
    tool->params.api_base = reader.Secret("api_base");
    tool->params.image = reader.Text("template");
    if (const auto timeout = reader.Whole("timeout", std::numeric_limits<int>::max())) {
      tool->params.timeout_seconds = static_cast<int>(*timeout);
    }
    tool->params.allow_internet_access = reader.Bool("allow_internet_access");
    tool->params.env = reader.Map("env");
    tool->params.metadata = reader.Map("metadata");
    if (auto language = reader.Text("language")) tool->params.language = *std::move(language);
    tool->params.run_deadline = reader.Seconds("run_deadline");
    tool->params.idle_timeout = reader.Seconds("idle_timeout");
    tool->params.output_bytes_max = reader.Whole("output_bytes_max", std::numeric_limits<std::uint64_t>::max());
    if (!reader.wrong().empty()) {
      skip(reader.wrong());
      continue;
    }
    const std::string name = tool->name;
    tools->insert_or_assign(name, std::move(tool));
  }
  Swap(std::move(tools));
  return warnings;
}

SandboxToolRegistry::Warnings SandboxToolRegistry::Register(std::vector<SandboxTool> tools) {
  Warnings warnings;
  auto map = std::make_shared<Tools>();
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const std::string place = "tool " + std::to_string(i) + " was skipped: ";
    if (tools[i].name.empty()) {
      warnings.push_back(place + "its name is empty");
    } else if (tools[i].params.sandbox_provider.empty()) {
      warnings.push_back(place + "its sandbox_provider is empty");
    } else {
      const std::string name = tools[i].name;
      map->insert_or_assign(name, std::make_shared<const SandboxTool>(std::move(tools[i])));
    }
  }
  Swap(std::move(map));
  return warnings;
}

void SandboxToolRegistry::Clear() { Swap(std::make_shared<const Tools>()); }

std::shared_ptr<const SandboxTool> SandboxToolRegistry::Resolve(std::string_view name) const {
  const std::shared_ptr<const Tools> tools = Current();
  const auto it = tools->find(name);
  return it == tools->end() ? nullptr : it->second;
}

std::vector<std::string> SandboxToolRegistry::Names() const {
  std::vector<std::string> names;
  const std::shared_ptr<const Tools> tools = Current();
  for (const auto& [name, tool] : *tools) names.push_back(name);
  return names;
}

void SandboxToolRegistry::Swap(std::shared_ptr<const Tools> tools) {
  const std::lock_guard lock(mutex_);
  tools_ = std::move(tools);
}

std::shared_ptr<const SandboxToolRegistry::Tools> SandboxToolRegistry::Current() const {
  const std::lock_guard lock(mutex_);
  return tools_;
}

void ProviderDirectory::Add(std::shared_ptr<SandboxProvider> provider) {
  std::string name = provider->name();
  Add(std::move(name), std::move(provider));
}

void ProviderDirectory::Add(std::string name, std::shared_ptr<SandboxProvider> provider) {
  const std::lock_guard lock(mutex_);
  providers_[std::move(name)] = std::move(provider);
}

Result<std::shared_ptr<SandboxProvider>> ProviderDirectory::Find(std::string_view name) const {
  {
    const std::lock_guard lock(mutex_);
    const auto it = providers_.find(name);
    if (it != providers_.end()) return it->second;
  }
  Error error;
  if (name == "opensandbox" || name == "e2b") {
    error.kind = ErrorKind::kNotImplemented;
    error.message = "Code execution is not supported for provider: " + std::string(name);
  } else {
    error.kind = ErrorKind::kInvalidArgument;
    error.message = "'" + std::string(name) + "' is not a valid SandboxProviders";
  }
  return error;
}

}  // namespace opensandbox

#include "opensandbox/providers/opensandbox_provider.h"

#include <utility>

#include "client/providers/opensandbox_provider_impl.h"

namespace opensandbox {
namespace internal {
OpenSandboxProvider::OpenSandboxProvider(OpenSandboxProviderOptions options)
    : LifecycleProvider(Settings(options)), options_(std::move(options)) {}

LifecycleSettings OpenSandboxProvider::Settings(const OpenSandboxProviderOptions& options) {
  LifecycleSettings settings;
  settings.label = "OpenSandbox";
  settings.headers = [](const std::string& api_key, bool /*has_body*/) { return LifecycleHeaders(api_key); };
  settings.transport = options.transport;
  settings.retry = options.retry;
  settings.lost_create = options.lost_create;
  settings.create_request_timeout = options.create_request_timeout;
  settings.request_timeout = options.request_timeout;
  settings.connect_timeout = options.connect_timeout;
  settings.cleanup_deadline = options.cleanup_deadline;
  settings.seed = options.seed;
  settings.leak_sink = options.leak_sink;
  settings.journal = options.journal;
  settings.getenv = options.getenv;
  return settings;
}

Result<SandboxRecord> OpenSandboxProvider::ParseCreated(const HttpResponse& response) const {
  return ParseSandbox("createSandbox", response, /*needs_id=*/true);
}

Result<std::string> OpenSandboxProvider::ValidateEnvironment(const std::optional<std::string>& api_key) {
  return ResolveKey(api_key, nullptr);
}

Result<std::string> OpenSandboxProvider::ResolveKey(const std::optional<std::string>& argument,
                                                    const SandboxHandle* handle) const {
  std::string key;
  if (argument) {
    key = *argument;
  } else if (handle != nullptr && handle->api_key) {
    key = *handle->api_key;
  } else if (options_.api_key) {
    key = *options_.api_key;
  } else {
    key = GetEnv(kApiKeyEnvVar).value_or("");
  }
  if (Result<void> checked = CheckApiKey(key); !checked) return checked.error();
  return key;
}

Result<std::string> OpenSandboxProvider::ResolveBase(const std::optional<std::string>& argument,
                                                     const SandboxHandle* handle) const {
  if (argument && !argument->empty()) return CheckedApiBase(argument);
  if (handle != nullptr && !handle->domain.empty()) return CheckedApiBase(handle->domain);
  if (options_.api_base && !options_.api_base->empty()) return CheckedApiBase(options_.api_base);
  return CheckedApiBase(GetEnv(kApiBaseEnvVar));
}

Result<OpenSandboxProvider::Target> OpenSandboxProvider::Resolve(const SandboxRef& sandbox,
                                                                 const std::optional<std::string>& api_key,
                                                                 const std::optional<std::string>& api_base,
                                                                 const std::stop_token& stop) const {
  Target target;
  if (const auto* handle = std::get_if<SandboxHandle>(&sandbox)) {
    target.handle = *handle;
  } else {
    target.handle.id = std::get<std::string>(sandbox);
  }
  SandboxHandle& handle = target.handle;
  const auto named = [&handle](Error error) {
    error.sandbox_id = handle.id;
    return error;
  };
  if (!handle.provider.empty() && handle.provider != name()) {
    Error error;
    error.kind = ErrorKind::kInvalidArgument;
    error.message = "The sandbox belongs to the provider \"" + handle.provider + "\", not to \"" + name() + "\".";
    return named(std::move(error));
  }
  if (Result<void> checked = CheckSandboxId(handle.id); !checked) return named(checked.error());
  Result<std::string> base = ResolveBase(api_base, &handle);
  if (!base) return named(base.error());
  Result<std::string> key = ResolveKey(api_key, &handle);
  if (!key) return named(key.error());
  handle.provider = name();
  handle.domain = *base;
  target.scope = {*base, *key, handle.id, std::nullopt, stop};
  return target;
}

Result<std::vector<std::string>> OpenSandboxProvider::FindByCreateTag(const std::string& create_tag,
                                                                      const std::optional<std::string>& api_base,
                                                                      std::stop_token stop) {
  Result<std::string> base = ResolveBase(api_base, nullptr);
  if (!base) return std::move(base).error();
  Result<std::string> key = ResolveKey(std::nullopt, nullptr);
  if (!key) return std::move(key).error();
  return FindIds(create_tag, {*base, *key, "", std::nullopt, std::move(stop)});
}

}  // namespace internal

std::unique_ptr<SandboxProvider> MakeOpenSandboxProvider(OpenSandboxProviderOptions options) {
  return std::make_unique<internal::OpenSandboxProvider>(std::move(options));
}

}  // namespace opensandbox

#include "opensandbox/providers/opensandbox_provider.h"

#include <cstdlib>
#include <random>
#include <utility>

#include "client/providers/opensandbox_provider_impl.h"
#include "opensandbox/transport/httplib_transport.h"

namespace opensandbox {
namespace internal {
namespace {

std::uint64_t DrawSeed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

}  // namespace

OpenSandboxProvider::OpenSandboxProvider(OpenSandboxProviderOptions options)
    : options_(std::move(options)),
      seed_(options_.seed != 0 ? options_.seed : DrawSeed()),
      calls_(options_.transport ? options_.transport : MakeHttplibTransport(), options_.retry, options_.connect_timeout,
             seed_) {}

std::optional<std::string> OpenSandboxProvider::GetEnv(const char* name) const {
  if (options_.getenv) return options_.getenv(name);
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
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

// Unique among the calls of all clients that share a server: the seed is 64 bits of the system's chance, unless it was
// given. 32 hexadecimal digits are a valid metadata value and need no escaping in a query.
std::string OpenSandboxProvider::NewCreateTag() {
  SeededRandom random = SeededRandom::ForPurpose(seed_, "create-tag", creates_count_.fetch_add(1));
  std::string tag;
  for (int word = 0; word < 2; ++word) {
    std::uint64_t bits = random.Next();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4) tag += "0123456789abcdef"[bits & 15];
  }
  return tag;
}

void OpenSandboxProvider::ReportLeak(const std::string& sandbox_id, const std::string& tag,
                                     const std::string& reason) const {
  if (options_.leak_sink != nullptr) options_.leak_sink->OnLeak({name(), sandbox_id, tag, reason});
}

}  // namespace internal

std::unique_ptr<SandboxProvider> MakeOpenSandboxProvider(OpenSandboxProviderOptions options) {
  return std::make_unique<internal::OpenSandboxProvider>(std::move(options));
}

}  // namespace opensandbox

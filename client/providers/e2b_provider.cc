#include "opensandbox/providers/e2b_provider.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "client/providers/e2b_provider_impl.h"
#include "client/transport/url.h"

namespace opensandbox {
namespace internal {
namespace {

constexpr int kPagesMax = 10;
constexpr char kE2bDomains[][16] = {"e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev"};

std::optional<std::string> NotEmpty(std::optional<std::string> text) {
  return text && !text->empty() ? std::move(text) : std::nullopt;
}

void NameGone(Error& error, const std::string& id) {
  if (error.kind != ErrorKind::kApi || error.http_status != 404) return;
  error.kind = ErrorKind::kSandboxGone;
  error.message = "E2B sandbox " + id + " does not exist any more: " + error.message;
}

}  // namespace

E2bProvider::E2bProvider(E2bProviderOptions options)
    : LifecycleProvider(Settings(options)), options_(std::move(options)) {}

LifecycleSettings E2bProvider::Settings(const E2bProviderOptions& options) {
  LifecycleSettings settings;
  settings.label = "E2B";
  settings.headers = [](const std::string& api_key, bool has_body) {
    std::vector<HeaderField> headers = {{"X-API-Key", api_key}};
    if (has_body) headers.push_back({"Content-Type", "application/json"});
    return headers;
  };
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

Result<std::string> E2bProvider::ValidateEnvironment(const std::optional<std::string>& api_key) {
  return ResolveKey(api_key, nullptr);
}

Result<std::string> E2bProvider::ResolveKey(const std::optional<std::string>& argument,
                                            const SandboxHandle* handle) const {
  std::optional<std::string> key = NotEmpty(argument);
  if (!key && handle != nullptr) key = NotEmpty(handle->api_key);
  if (!key) key = NotEmpty(options_.api_key);
  if (!key) key = NotEmpty(GetEnv(kE2bApiKeyEnvVar));
  if (!key) {
    Error error;
    error.kind = ErrorKind::kInvalidArgument;
    error.message = "E2B API key not set. Set E2B_API_KEY or pass api_key=...";
    return error;
  }
  if (Result<void> checked = CheckApiKey(*key); !checked) return checked.error();
  return *std::move(key);
}

Result<std::string> E2bProvider::ResolveBase(const std::optional<std::string>& argument,
                                             const SandboxHandle* handle) const {
  std::optional<std::string> base = NotEmpty(argument);
  if (!base && handle != nullptr) base = NotEmpty(handle->api_base);
  if (!base) base = NotEmpty(options_.api_base);
  if (!base) base = NotEmpty(GetEnv("E2B_API_URL"));
  return CheckedE2bUrl(base ? *base : "https://api." + DefaultDomain(), "api_base");
}

std::string E2bProvider::DefaultDomain() const {
  std::optional<std::string> domain = NotEmpty(options_.domain);
  if (!domain) domain = NotEmpty(GetEnv("E2B_DOMAIN"));
  return domain.value_or(kE2bDefaultDomain);
}

Result<SandboxHandle> E2bProvider::ToHandle(const SandboxRef& sandbox) const {
  SandboxHandle handle;
  if (const auto* given = std::get_if<SandboxHandle>(&sandbox)) {
    handle = *given;
  } else {
    handle.id = std::get<std::string>(sandbox);
  }
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.sandbox_id = handle.id;
  if (!handle.provider.empty() && handle.provider != name()) {
    error.message = "The sandbox belongs to the provider \"" + handle.provider + "\", not to \"" + name() + "\".";
    return error;
  }
  if (Result<void> checked = CheckSandboxId(handle.id); !checked) {
    error.message = checked.error().message;
    return error;
  }
  handle.provider = name();
  return handle;
}

Result<E2bProvider::Target> E2bProvider::Resolve(const SandboxRef& sandbox, const std::optional<std::string>& api_key,
                                                 const std::optional<std::string>& api_base,
                                                 const std::stop_token& stop) const {
  Result<SandboxHandle> handle = ToHandle(sandbox);
  if (!handle) return std::move(handle).error();
  Result<std::string> base = ResolveBase(api_base, &*handle);
  Result<std::string> key = ResolveKey(api_key, &*handle);
  for (Result<std::string>* part : {&base, &key}) {
    if (*part) continue;
    part->error().sandbox_id = handle->id;
    return std::move(*part).error();
  }
  CallScope scope{*base, *key, handle->id, std::nullopt, stop};
  return Target{*std::move(handle), std::move(scope)};
}

Result<SandboxHandle> E2bProvider::CreateSandbox(const CreateSandboxRequest& request) {
  Result<std::string> key = ResolveKey(request.api_key, nullptr);
  if (!key) return std::move(key).error();
  Result<std::string> base = ResolveBase(request.api_base, nullptr);
  if (!base) return std::move(base).error();
  const std::string tag = NewCreateTag();
  Result<std::string> body = E2bCreateBody(request, tag);
  if (!body) return std::move(body).error();

  CallScope scope{*base, *key, "", std::nullopt, request.stop};
  bool may_have_twins = false;
  Result<SandboxRecord> created = PostCreate(*body, tag, scope, may_have_twins);
  if (!created) return std::move(created).error();
  scope.sandbox_id = created->id;
  Result<SandboxHandle> handle = MakeHandle(*created, scope);
  if (!handle) {
    Error& error = handle.error();
    error.outcome = Outcome::kHappened;
    CleanUp(created->id, tag, scope, error);
  }
  if (may_have_twins) DeleteTwins(created->id, tag, scope);
  return handle;
}

Result<SandboxRecord> E2bProvider::ParseCreated(const HttpResponse& response) const {
  Result<E2bSandbox> sandbox = ParseE2bSandbox("createSandbox", response);
  if (!sandbox) return std::move(sandbox).error();
  SandboxRecord record;
  record.id = std::move(sandbox->id);
  record.body = response.body;
  return record;
}

Result<SandboxHandle> E2bProvider::MakeHandle(const SandboxRecord& created, const CallScope& scope) {
  HttpResponse answer;
  answer.body = created.body;
  // An adopted sandbox comes from a list, which shows no tokens.
  Result<E2bSandbox> sandbox = created.body.empty() ? GetSandbox(scope) : ParseE2bSandbox("createSandbox", answer);
  if (!sandbox) return std::move(sandbox).error();
  SandboxHandle handle;
  handle.id = created.id;
  handle.provider = name();
  handle.domain = sandbox->domain.empty() ? DefaultDomain() : sandbox->domain;
  handle.api_base = scope.base;
  handle.api_key = scope.api_key;
  if (!sandbox->access_token.empty()) handle.execd_headers.push_back({"X-Access-Token", sandbox->access_token});
  if (!sandbox->traffic_token.empty()) {
    handle.execd_headers.push_back({"E2B-Traffic-Access-Token", sandbox->traffic_token});
  }
  bool by_headers = false;
  Result<std::string> run_base = RunBase(handle, scope.base, by_headers);
  if (!run_base) return std::move(run_base).error();
  return handle;
}

Result<E2bSandbox> E2bProvider::GetSandbox(const CallScope& scope) {
  LifecycleRequest request;
  request.operation = "getSandbox";
  request.method = "GET";
  request.path = "/sandboxes/" + PercentEncode(scope.sandbox_id);
  request.timeout = options_.request_timeout;
  const LifecycleCalls::Repeated got = calls_.Repeat(request, scope);
  if (got.response) return ParseE2bSandbox(request.operation, *got.response);
  Error error = got.response.error();
  NameGone(error, scope.sandbox_id);
  return error;
}

E2bProvider::LookUp E2bProvider::FindByTag(const std::string& tag, const CallScope& scope) {
  LookUp look;
  std::string next_token;
  for (int page = 1; page <= kPagesMax; ++page) {
    LifecycleRequest request;
    request.operation = "listSandboxes";
    request.method = "GET";
    request.path = "/v2/sandboxes?" + E2bCreateTagQuery(tag);
    if (!next_token.empty()) request.path += "&nextToken=" + PercentEncode(next_token);
    request.timeout = options_.request_timeout;
    const Result<HttpResponse> response = calls_.Once(request, scope);
    Result<std::vector<SandboxRecord>> records = response ? ParseE2bList(*response) : response.error();
    if (!records) {
      look.hopeless = IsRefusal(records.error());
      look.why_not = records.error().message;
      return look;
    }
    for (SandboxRecord& record : *records) {
      // Compared here too: what does not carry the tag is somebody else's and must not be touched.
      if (record.create_tag == tag && CheckSandboxId(record.id)) look.found.push_back(std::move(record));
    }
    next_token = FindHeader(response->headers, "X-Next-Token").value_or("");
    if (next_token.empty()) {
      look.reliable = true;
      return look;
    }
  }
  look.hopeless = true;
  look.why_not = "the list of sandboxes has more than " + std::to_string(kPagesMax) + " pages";
  return look;
}

Result<bool> E2bProvider::DeleteSandbox(const SandboxRef& sandbox, const DeleteSandboxRequest& request) {
  Result<Target> target = Resolve(sandbox, request.api_key, request.api_base, request.stop);
  if (!target) return std::move(target).error();
  target->scope.deadline = clock().Now() + request.deadline.value_or(options_.cleanup_deadline);
  Result<bool> deleted = Delete(target->scope);
  if (!deleted && request.report_leak) ReportLeak(target->handle.id, "", deleted.error().Describe());
  return deleted;
}

Result<void> E2bProvider::RenewSandbox(const SandboxRef& sandbox, const RenewSandboxRequest& request) {
  Result<Target> target = Resolve(sandbox, request.api_key, request.api_base, request.stop);
  if (!target) return std::move(target).error();
  const std::string& id = target->handle.id;
  if (request.lifetime <= Duration::zero()) {
    Error error;
    error.kind = ErrorKind::kInvalidArgument;
    error.message = "A sandbox can only be renewed for a time above 0.";
    error.sandbox_id = id;
    return error;
  }
  LifecycleRequest renew;
  renew.operation = "setSandboxTimeout";
  renew.method = "POST";
  renew.path = "/sandboxes/" + PercentEncode(id) + "/timeout";
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(request.lifetime).count();
  renew.body = R"({"timeout":)" + std::to_string(seconds) + "}";
  renew.timeout = options_.request_timeout;
  target->scope.deadline = clock().Now() + options_.request_timeout;
  LifecycleCalls::Repeated renewed = calls_.Repeat(renew, target->scope);
  if (renewed.response) return {};
  NameGone(renewed.response.error(), id);
  return std::move(renewed.response.error());
}

Result<std::string> E2bProvider::RunBase(const SandboxHandle& handle, const std::string& api_base,
                                         bool& by_headers) const {
  std::optional<std::string> sandbox_url = NotEmpty(options_.sandbox_url);
  if (!sandbox_url) sandbox_url = NotEmpty(GetEnv("E2B_SANDBOX_URL"));
  by_headers = sandbox_url.has_value();
  if (sandbox_url) return CheckedE2bUrl(*sandbox_url, "sandbox_url");
  Error error;
  error.kind = ErrorKind::kProtocol;
  error.sandbox_id = handle.id;
  if (!IsHostLabelTail(handle.id)) {
    error.message = "E2B sandbox id " + Excerpt(handle.id) + " can be no part of a host name.";
    return error;
  }
  std::vector<std::string> allowed = options_.allowed_domains;
  for (const char* domain : kE2bDomains) allowed.push_back(domain);
  allowed.push_back(DefaultDomain());
  if (const Result<Url> base = ParseUrl(api_base); base && base->host.rfind("api.", 0) == 0) {
    allowed.push_back(base->host.substr(4));
  }
  const std::string domain = handle.domain.empty() ? DefaultDomain() : handle.domain;
  if (!IsAllowedE2bDomain(domain, allowed)) {
    error.message =
        "E2B named the domain " + Excerpt(domain) + ", which is none of the allowed ones; see allowed_domains.";
    return error;
  }
  return "https://" + std::to_string(kE2bJupyterPort) + "-" + handle.id + "." + domain;
}

Result<std::vector<std::string>> E2bProvider::FindByCreateTag(const std::string& create_tag,
                                                              const std::optional<std::string>& api_base,
                                                              std::stop_token stop) {
  Result<std::string> base = ResolveBase(api_base, nullptr);
  if (!base) return std::move(base).error();
  Result<std::string> key = ResolveKey(std::nullopt, nullptr);
  if (!key) return std::move(key).error();
  return FindIds(create_tag, {*base, *key, "", std::nullopt, std::move(stop)});
}

}  // namespace internal

std::unique_ptr<SandboxProvider> MakeE2bProvider(E2bProviderOptions options) {
  return std::make_unique<internal::E2bProvider>(std::move(options));
}

}  // namespace opensandbox

#include "emulator/opensandbox/lifecycle_create_request.h"

#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

constexpr std::string_view kDnsLabelPattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

bool IsAbsolute(std::string_view text) { return !text.empty() && text.front() == '/'; }

// ^(/|[A-Za-z]:[\\/])
bool IsHostPath(std::string_view text) {
  if (IsAbsolute(text)) return true;
  if (text.size() < 3) return false;
  const char drive = static_cast<char>(text[0] | 0x20);
  return drive >= 'a' && drive <= 'z' && text[1] == ':' && (text[2] == '\\' || text[2] == '/');
}

// ^\d+(\.\d+)?(Ki|Mi|Gi|Ti|Pi|Ei)?$
bool IsStorageSize(std::string_view text) {
  const auto digits = [&text] {
    std::size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
    text.remove_prefix(count);
    return count > 0;
  };
  if (!digits()) return false;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (!digits()) return false;
  }
  if (text.empty()) return true;
  return text.size() == 2 && std::string_view("KMGTPE").find(text[0]) != std::string_view::npos && text[1] == 'i';
}

// The text of an optional field; nullopt also if it is not given.
std::optional<std::string> OptionalString(const Field& field, const Loc& loc, ValidationErrors& errors,
                                          const StringRule& rule = {}) {
  if (!field.given()) return std::nullopt;
  return CheckString(*field.value, Loc(loc, field.spelled), errors, rule);
}

// A field that must be there, and must be a string.
std::string RequiredString(const Json& object, const Loc& loc, ValidationErrors& errors, std::string_view name,
                           std::string_view snake_name = {}, const StringRule& rule = {}) {
  const Field field = RequireField(object, loc, errors, name, snake_name);
  if (field.value == nullptr) return {};
  return CheckString(*field.value, Loc(loc, field.spelled), errors, rule).value_or("");
}

// A field with a default; null is no bool.
bool BoolOr(bool fallback, const Field& field, const Loc& loc, ValidationErrors& errors) {
  if (field.value == nullptr) return fallback;
  return CheckBool(*field.value, Loc(loc, field.spelled), errors).value_or(fallback);
}

// Whether the checks since `before` found nothing; a model's own rule runs only then.
class ErrorMark {
 public:
  explicit ErrorMark(const ValidationErrors& errors) : errors_(errors), before_(errors.count()) {}
  bool Clean() const { return errors_.count() == before_; }

 private:
  const ValidationErrors& errors_;
  std::size_t before_;
};

std::string CheckImage(const Json& value, const Loc& loc, ValidationErrors& errors) {
  if (!CheckModel(value, loc, errors)) return {};
  std::string uri = RequiredString(value, loc, errors, "uri");
  const Field auth = FindField(value, "auth");
  const Loc auth_loc(loc, "auth");
  if (auth.given() && CheckModel(*auth.value, auth_loc, errors)) {
    RequiredString(*auth.value, auth_loc, errors, "username");
    RequiredString(*auth.value, auth_loc, errors, "password");
  }
  return uri;
}

NetworkPolicy CheckNetworkPolicy(const Json& value, const Loc& loc, ValidationErrors& errors) {
  NetworkPolicy policy;
  if (!CheckModel(value, loc, errors)) return policy;
  policy.default_action = OptionalString(FindField(value, "defaultAction", "default_action"), loc, errors);
  const Field egress = FindField(value, "egress");
  const Loc egress_loc(loc, "egress");
  if (egress.value == nullptr || !CheckList(*egress.value, egress_loc, errors)) return policy;
  for (std::size_t i = 0; i < egress.value->items().size(); ++i) {
    const Json& rule = egress.value->items()[i];
    const Loc rule_loc(egress_loc, i);
    if (!CheckModel(rule, rule_loc, errors)) continue;
    std::string action = RequiredString(rule, rule_loc, errors, "action");
    std::string target = RequiredString(rule, rule_loc, errors, "target", {}, {.length_min = 1});
    policy.egress.emplace_back(std::move(action), std::move(target));
  }
  return policy;
}

VolumeRequest::NamedVolume CheckNamedVolume(const Json& value, const Loc& loc, ValidationErrors& errors) {
  VolumeRequest::NamedVolume volume;
  if (!CheckModel(value, loc, errors)) return volume;
  volume.claim_name = RequiredString(value, loc, errors, "claimName", "claim_name",
                                     {.length_max = 253, .pattern = kDnsLabelPattern, .matches = IsDnsLabel});
  volume.create_if_not_exists =
      BoolOr(true, FindField(value, "createIfNotExists", "create_if_not_exists"), loc, errors);
  volume.delete_on_sandbox_termination =
      BoolOr(false, FindField(value, "deleteOnSandboxTermination", "delete_on_sandbox_termination"), loc, errors);
  OptionalString(FindField(value, "storageClass", "storage_class"), loc, errors);
  OptionalString(FindField(value, "storage"), loc, errors,
                 {.pattern = "^\\d+(\\.\\d+)?(Ki|Mi|Gi|Ti|Pi|Ei)?$", .matches = IsStorageSize});
  const Field modes = FindField(value, "accessModes", "access_modes");
  if (modes.given()) CheckStringList(*modes.value, Loc(loc, modes.spelled), errors);
  return volume;
}

VolumeRequest::ObjectStore CheckObjectStore(const Json& value, const Loc& loc, ValidationErrors& errors) {
  VolumeRequest::ObjectStore store;
  if (!CheckModel(value, loc, errors)) return store;
  const ErrorMark mark(errors);
  store.bucket = RequiredString(value, loc, errors, "bucket", {}, {.length_min = 3, .length_max = 63});
  store.endpoint = RequiredString(value, loc, errors, "endpoint", {}, {.length_min = 1});
  if (const Field version = FindField(value, "version"); version.value != nullptr) {
    if (version.value->is_string() && (version.value->text() == "1.0" || version.value->text() == "2.0")) {
      store.version = version.value->text();
    } else {
      errors.Add("literal_error", Loc(loc, "version"), "Input should be '1.0' or '2.0'", *version.value,
                 "{\"expected\":\"'1.0' or '2.0'\"}");
    }
  }
  if (const Field options = FindField(value, "options"); options.given()) {
    store.options = CheckStringList(*options.value, Loc(loc, "options"), errors).value_or(std::vector<std::string>{});
  }
  const auto key_id = OptionalString(FindField(value, "accessKeyId", "access_key_id"), loc, errors, {.length_min = 1});
  const auto secret =
      OptionalString(FindField(value, "accessKeySecret", "access_key_secret"), loc, errors, {.length_min = 1});
  if (mark.Clean() && (!key_id.has_value() || !secret.has_value())) {
    errors.AddRule(loc, "OSSFS inline credentials are required: accessKeyId and accessKeySecret.", value);
  }
  return store;
}

VolumeRequest CheckVolume(const Json& value, const Loc& loc, ValidationErrors& errors) {
  VolumeRequest volume;
  if (!CheckModel(value, loc, errors)) return volume;
  const ErrorMark mark(errors);
  volume.name = RequiredString(value, loc, errors, "name", {},
                               {.length_max = 63, .pattern = kDnsLabelPattern, .matches = IsDnsLabel});
  if (const Field host = FindField(value, "host"); host.given()) {
    const Loc host_loc(loc, "host");
    volume.host_path = "";
    if (CheckModel(*host.value, host_loc, errors)) {
      volume.host_path = RequiredString(*host.value, host_loc, errors, "path", {},
                                        {.pattern = "^(/|[A-Za-z]:[\\\\/])", .matches = IsHostPath});
    }
  }
  if (const Field pvc = FindField(value, "pvc"); pvc.given()) {
    volume.pvc = CheckNamedVolume(*pvc.value, Loc(loc, "pvc"), errors);
  }
  if (const Field ossfs = FindField(value, "ossfs"); ossfs.given()) {
    volume.ossfs = CheckObjectStore(*ossfs.value, Loc(loc, "ossfs"), errors);
  }
  volume.mount_path =
      RequiredString(value, loc, errors, "mountPath", "mount_path", {.pattern = "^/.*", .matches = IsAbsolute});
  volume.read_only = BoolOr(false, FindField(value, "readOnly", "read_only"), loc, errors);
  volume.sub_path = OptionalString(FindField(value, "subPath", "sub_path"), loc, errors);

  const int backends =
      (volume.host_path.has_value() ? 1 : 0) + (volume.pvc.has_value() ? 1 : 0) + (volume.ossfs.has_value() ? 1 : 0);
  if (mark.Clean() && backends != 1) {
    errors.AddRule(loc,
                   std::string("Exactly one backend (host, pvc, ossfs) must be specified, but ") +
                       (backends == 0 ? "none was provided." : "multiple were provided."),
                   value);
  }
  return volume;
}

// The rules that look at several fields. The first one broken is the only one told.
const char* BrokenRule(const CreateRequest& request) {
  const bool has_snapshot = !PyStrip(request.snapshot_id.value_or("")).empty();
  if (!request.PoolRef().empty()) {
    if (has_snapshot) return "snapshotId cannot be used together with poolRef.";
    if (request.credential_proxy) return "credentialProxy.enabled cannot be used together with poolRef.";
    return nullptr;
  }
  const bool has_image = !PyStrip(request.image_uri.value_or("")).empty();
  if (has_image == has_snapshot) return "Exactly one of image or snapshotId must be provided.";
  if (has_image && !request.entrypoint.has_value()) return "Entrypoint is required when image is provided.";
  if (!request.resource_limits.has_value()) return "resourceLimits is required when poolRef is not provided.";
  if (request.credential_proxy && !request.network_policy.has_value()) {
    return "credentialProxy.enabled requires networkPolicy.";
  }
  return nullptr;
}

}  // namespace

std::string NetworkPolicy::ToJson() const {
  std::string json = "{";
  if (default_action.has_value()) {
    json.append("\"defaultAction\":");
    AppendJsonString(json, *default_action);
    json.push_back(',');
  }
  json.append("\"egress\":[");
  for (std::size_t i = 0; i < egress.size(); ++i) {
    json.append(i == 0 ? "{\"action\":" : ",{\"action\":");
    AppendJsonString(json, egress[i].first);
    json.append(",\"target\":");
    AppendJsonString(json, egress[i].second);
    json.push_back('}');
  }
  return json + "]}";
}

std::string CreateRequest::PoolRef() const {
  if (!extensions.has_value()) return {};
  for (const auto& [key, value] : *extensions) {
    if (key == "poolRef") return std::string(PyStrip(value));
  }
  return {};
}

std::optional<CreateRequest> CheckCreateRequest(const Json& body, const Loc& loc, ValidationErrors& errors) {
  if (!CheckModel(body, loc, errors)) return std::nullopt;
  const ErrorMark mark(errors);
  CreateRequest request;
  if (const Field image = FindField(body, "image"); image.given()) {
    request.image_uri = CheckImage(*image.value, Loc(loc, "image"), errors);
  }
  request.snapshot_id = OptionalString(FindField(body, "snapshotId", "snapshot_id"), loc, errors);
  if (const Field platform = FindField(body, "platform"); platform.given()) {
    const Loc platform_loc(loc, "platform");
    if (CheckModel(*platform.value, platform_loc, errors)) {
      std::string os = RequiredString(*platform.value, platform_loc, errors, "os");
      std::string arch = RequiredString(*platform.value, platform_loc, errors, "arch");
      request.platform.emplace(std::move(os), std::move(arch));
    }
  }
  if (const Field timeout = FindField(body, "timeout"); timeout.given()) {
    request.timeout = CheckInt(*timeout.value, Loc(loc, "timeout"), errors, {.min = 60});
  }
  if (const Field limits = FindField(body, "resourceLimits", "resource_limits"); limits.given()) {
    request.resource_limits = CheckStringMap(*limits.value, Loc(loc, limits.spelled), errors);
  }
  if (const Field env = FindField(body, "env"); env.given()) {
    request.env = CheckNullableStringMap(*env.value, Loc(loc, "env"), errors);
  }
  if (const Field metadata = FindField(body, "metadata"); metadata.given()) {
    request.metadata = CheckStringMap(*metadata.value, Loc(loc, "metadata"), errors);
  }
  if (const Field entrypoint = FindField(body, "entrypoint"); entrypoint.given()) {
    request.entrypoint = CheckStringList(*entrypoint.value, Loc(loc, "entrypoint"), errors, 1);
  }
  if (const Field policy = FindField(body, "networkPolicy", "network_policy"); policy.given()) {
    request.network_policy = CheckNetworkPolicy(*policy.value, Loc(loc, policy.spelled), errors);
  }
  if (const Field proxy = FindField(body, "credentialProxy", "credential_proxy"); proxy.given()) {
    const Loc proxy_loc(loc, proxy.spelled);
    if (CheckModel(*proxy.value, proxy_loc, errors)) {
      request.credential_proxy = BoolOr(false, FindField(*proxy.value, "enabled"), proxy_loc, errors);
    }
  }
  request.secure_access = BoolOr(false, FindField(body, "secureAccess", "secure_access"), loc, errors);
  if (const Field volumes = FindField(body, "volumes"); volumes.given()) {
    const Loc volumes_loc(loc, "volumes");
    if (CheckList(*volumes.value, volumes_loc, errors)) {
      for (std::size_t i = 0; i < volumes.value->items().size(); ++i) {
        request.volumes.push_back(CheckVolume(volumes.value->items()[i], Loc(volumes_loc, i), errors));
      }
    }
  }
  if (const Field extensions = FindField(body, "extensions"); extensions.given()) {
    request.extensions = CheckStringMap(*extensions.value, Loc(loc, "extensions"), errors);
  }
  if (!mark.Clean()) return std::nullopt;
  if (const char* rule = BrokenRule(request)) {
    errors.AddRule(loc, rule, body);
    return std::nullopt;
  }
  return request;
}

}  // namespace opensandbox::emulator

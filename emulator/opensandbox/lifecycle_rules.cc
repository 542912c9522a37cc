#include "emulator/opensandbox/lifecycle_rules.h"

#include <algorithm>

#include "emulator/opensandbox/lifecycle_datetime.h"
#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

constexpr char kInvalidParameter[] = "SANDBOX::INVALID_PARAMETER";
constexpr char kInvalidLabel[] = "SANDBOX::INVALID_METADATA_LABEL";
constexpr std::size_t kLabelMax = 63;
constexpr std::size_t kLabelPrefixMax = 253;
constexpr std::string_view kRenewKey = "access.renew.extend.seconds";
constexpr std::int64_t kRenewSecondsMin = 300, kRenewSecondsMax = 86400;

// Python's '$' also matches in front of a newline at the very end, so the server takes "a\n".
std::string_view WithoutFinalNewline(std::string_view text) {
  if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text;
}

bool IsAlphanumeric(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// [A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?
bool IsLabelName(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsDnsSubdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsLabelKey(std::string_view key) {
  std::string_view name = key;
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (prefix.empty() || name.empty() || Utf8Length(prefix) > kLabelPrefixMax) return false;
    if (!IsDnsSubdomain(WithoutFinalNewline(prefix))) return false;
  }
  return Utf8Length(name) <= kLabelMax && IsLabelName(WithoutFinalNewline(name));
}

bool IsLabelValue(std::string_view value) {
  if (Utf8Length(value) > kLabelMax) return false;
  const std::string_view text = WithoutFinalNewline(value);
  return text.empty() || IsLabelName(text);
}

std::string ReplaceBackslashes(std::string text) {
  std::replace(text.begin(), text.end(), '\\', '/');
  return text;
}

bool HasDrive(std::string_view path) {
  return path.size() >= 2 && path[1] == ':' && IsAlphanumeric(path[0]) && (path[0] < '0' || path[0] > '9');
}

// Forward slashes, a lower-case drive, no slash at the end: for comparing with the allowed prefixes.
std::string ComparablePath(const std::string& path) {
  std::string comparable = ReplaceBackslashes(path);
  if (HasDrive(comparable)) comparable[0] = static_cast<char>(comparable[0] | 0x20);
  if (comparable.size() > 1 && comparable.back() == '/') comparable.pop_back();
  return comparable;
}

Refusal Volume(std::string_view code, std::string message, int status = 400) {
  return {status, "VOLUME::" + std::string(code), std::move(message)};
}

std::optional<Refusal> CheckHostPath(const std::string& path, const LifecycleSettings& settings) {
  std::string tail = ReplaceBackslashes(path);
  if (HasDrive(tail)) tail.erase(0, 2);
  if (tail.find("/..") != std::string::npos) {
    return Volume("INVALID_HOST_PATH", "Host path '" + path + "' contains path traversal component '..'.");
  }
  if (tail.find("//") != std::string::npos || (tail.size() > 1 && tail.back() == '/')) {
    return Volume("INVALID_HOST_PATH", "Host path '" + path + "' is not normalized. Remove redundant slashes.");
  }
  if (!settings.allowed_host_paths.has_value()) return std::nullopt;
  const std::string comparable = ComparablePath(path);
  for (const std::string& allowed : *settings.allowed_host_paths) {
    const std::string prefix = ComparablePath(allowed);
    if (comparable == prefix || comparable.compare(0, prefix.size() + 1, prefix + "/") == 0) return std::nullopt;
  }
  return Volume("HOST_PATH_NOT_ALLOWED",
                "Host path '" + path +
                    "' is not under any allowed prefix. Allowed prefixes: " + PyRepr(*settings.allowed_host_paths));
}

std::optional<Refusal> CheckSubPath(const std::string& sub_path) {
  if (!sub_path.empty() && sub_path.front() == '/') {
    return Volume("INVALID_SUB_PATH", "SubPath '" + sub_path + "' must be a relative path, not absolute.");
  }
  if (("/" + sub_path + "/").find("/../") != std::string::npos) {
    return Volume("INVALID_SUB_PATH", "SubPath '" + sub_path + "' contains path traversal '..' which is not allowed.");
  }
  return std::nullopt;
}

std::optional<Refusal> CheckObjectStore(const VolumeRequest::ObjectStore& store) {
  if (PyStrip(store.bucket).empty()) return Volume("INVALID_OSSFS_BUCKET", "OSSFS bucket cannot be empty.");
  if (PyStrip(store.endpoint).empty()) return Volume("INVALID_OSSFS_ENDPOINT", "OSSFS endpoint cannot be empty.");
  for (const std::string& option : store.options) {
    const std::string_view trimmed = PyStrip(option);
    if (trimmed.empty()) return Volume("INVALID_OSSFS_OPTION", "OSSFS options must be non-empty strings.");
    if (trimmed.front() == '-') {
      return Volume("INVALID_OSSFS_OPTION",
                    "OSSFS options must be raw option payloads without '-' prefix (e.g. 'allow_other', 'uid=1000').");
    }
  }
  return std::nullopt;
}

// What provisioning finds out: after every volume has passed the checks above.
std::optional<Refusal> CheckBackend(const VolumeRequest& volume, const VolumeDriver& driver_of) {
  const std::string name = "Volume '" + volume.name + "': ";
  if (volume.pvc.has_value()) {
    const std::string& claim = volume.pvc->claim_name;
    const std::optional<std::string> driver = driver_of(claim);
    if (!driver.has_value() && !volume.pvc->create_if_not_exists) {
      return Volume("PVC_NOT_FOUND", name + "Docker named volume '" + claim +
                                         "' does not exist. Named volumes must be created before sandbox creation "
                                         "(e.g., 'docker volume create <name>').");
    }
    if (driver.has_value() && *driver != "local" && !volume.sub_path.value_or("").empty()) {
      return Volume("PVC_SUBPATH_UNSUPPORTED_DRIVER",
                    name + "subPath is only supported for Docker named volumes using the 'local' driver, but volume '" +
                        claim + "' uses driver '" + *driver + "'.");
    }
  }
  if (volume.ossfs.has_value()) {
    // There is no object store behind an emulator: it answers as a server on a machine without the mount helper.
    const std::string helper = volume.ossfs->version == "1.0" ? "ossfs" : "ossfs2";
    return Volume("OSSFS_MOUNT_FAILED",
                  name + "failed to execute ossfs command: [Errno 2] No such file or directory: '" + helper + "'", 500);
  }
  return std::nullopt;
}

}  // namespace

const LifecycleSettings& DefaultLifecycleSettings() {
  static const auto* const kDefaults = new LifecycleSettings();
  return *kDefaults;
}

std::optional<Refusal> CheckLabelSyntax(const std::string& key, const std::string& value) {
  if (!IsLabelKey(key)) {
    return Refusal{
        400, kInvalidLabel,
        "Metadata key '" + key +
            "' is invalid: must be either a name or a DNS-subdomain prefix and name separated by /, where the "
            "name is up to 63 characters and matches [A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?, and the "
            "optional prefix is a valid DNS subdomain up to 253 characters."};
  }
  if (!IsLabelValue(value)) {
    return Refusal{400, kInvalidLabel,
                   "Metadata value '" + value +
                       "' is invalid: must be 63 characters or less, start/end with an alphanumeric character, and "
                       "contain only alphanumeric, '-', '_', or '.' characters."};
  }
  return std::nullopt;
}

std::optional<Refusal> CheckMetadataLabels(const StringPairs& metadata) {
  for (const auto& [key, value] : metadata) {
    if (key.compare(0, kReservedLabelPrefix.size(), kReservedLabelPrefix) == 0) {
      return Refusal{
          400, kInvalidLabel,
          "Metadata key '" + key +
              "' uses the reserved prefix 'opensandbox.io/'. Keys under this prefix are managed by the system "
              "and cannot be set via metadata."};
    }
    if (auto refusal = CheckLabelSyntax(key, value)) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> CheckExtensions(const StringPairs& extensions) {
  for (const auto& [key, value] : extensions) {
    if (key != kRenewKey) continue;
    const std::string prefix = "Invalid extensions[\"" + key + "\"]: ";
    const std::string_view trimmed = PyStrip(value);
    if (trimmed.empty()) {
      return Refusal{
          400, kInvalidParameter,
          prefix +
              "empty value; omit the key to disable renew-on-access, or use an integer between 300 and 86400 "
              "seconds."};
    }
    const std::optional<WholeNumber> seconds =
        trimmed.find('.') == std::string_view::npos ? ParseWholeNumber(trimmed) : std::nullopt;
    if (!seconds.has_value()) {
      return Refusal{400, kInvalidParameter,
                     prefix + "must be a base-10 integer string between 300 and 86400, got " + PyRepr(value) + "."};
    }
    if (*seconds < kRenewSecondsMin || *seconds > kRenewSecondsMax) {
      return Refusal{400, kInvalidParameter,
                     prefix + "must be between 300 and 86400 seconds (5 minutes to 24 hours inclusive), got " +
                         seconds->digits + "."};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> CheckPlatform(std::pair<std::string, std::string>& platform) {
  const std::string os = PyLower(PyStrip(platform.first));
  const std::string arch = PyLower(PyStrip(platform.second));
  if (os != "linux" && os != "windows") {
    return Refusal{400, kInvalidParameter,
                   "Unsupported platform.os '" + platform.first + "'. Supported values: ['linux', 'windows']."};
  }
  if (arch != "amd64" && arch != "arm64") {
    return Refusal{400, kInvalidParameter,
                   "Unsupported platform.arch '" + platform.second + "'. Supported values: ['amd64', 'arm64']."};
  }
  platform = {os, arch};
  return std::nullopt;
}

std::optional<Refusal> CheckTimeout(const WholeNumber& timeout, std::int64_t created_micros,
                                    const LifecycleSettings& settings) {
  const std::int64_t seconds_left = (kDatetimeMaxMicros - created_micros) / 1000000;
  if (timeout > seconds_left) {
    return Refusal{400, kInvalidParameter, "Sandbox timeout " + timeout.digits + "s is too large to represent safely."};
  }
  if (settings.sandbox_timeout_seconds_max.has_value() && timeout > *settings.sandbox_timeout_seconds_max) {
    return Refusal{400, kInvalidParameter,
                   "Sandbox timeout " + timeout.digits + "s exceeds configured maximum of " +
                       std::to_string(*settings.sandbox_timeout_seconds_max) + "s."};
  }
  return std::nullopt;
}

std::optional<Refusal> CheckNetwork(const CreateRequest& request, const LifecycleSettings& settings) {
  const std::string& mode = settings.network_mode;
  const bool user_defined = mode != "bridge" && mode != "host";
  if (request.network_policy.has_value()) {
    if (mode == "host") {
      return Refusal{400, kInvalidParameter, "networkPolicy is not supported when docker network_mode=host."};
    }
    if (user_defined) {
      return Refusal{400, kInvalidParameter,
                     "networkPolicy is not supported when docker network_mode='" + mode +
                         "' (user-defined network). Use network_mode='bridge' to enable network policy enforcement."};
    }
    if (!settings.egress_configured) {
      return Refusal{400, kInvalidParameter, "egress.image must be configured when networkPolicy is provided."};
    }
  }
  if (user_defined && !settings.network_exists) {
    return Refusal{
        400, kInvalidParameter,
        "Docker network '" + mode + "' does not exist. Create it first with 'docker network create <name>'."};
  }
  return std::nullopt;
}

std::optional<Refusal> CheckVolumes(const std::vector<VolumeRequest>& volumes, const LifecycleSettings& settings,
                                    const VolumeDriver& driver_of) {
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const VolumeRequest& volume = volumes[i];
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (volumes[earlier].name == volume.name) {
        return Volume("DUPLICATE_NAME",
                      "Duplicate volume name '" + volume.name + "'. Each volume must have a unique name.");
      }
    }
    if (volume.sub_path.has_value()) {
      if (auto refusal = CheckSubPath(*volume.sub_path)) return refusal;
    }
    if (volume.host_path.has_value()) {
      if (auto refusal = CheckHostPath(*volume.host_path, settings)) return refusal;
    }
    if (volume.ossfs.has_value()) {
      if (auto refusal = CheckObjectStore(*volume.ossfs)) return refusal;
    }
  }
  for (const VolumeRequest& volume : volumes) {
    if (auto refusal = CheckBackend(volume, driver_of)) return refusal;
  }
  return std::nullopt;
}

}  // namespace opensandbox::emulator

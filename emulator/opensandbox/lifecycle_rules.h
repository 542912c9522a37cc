// Checks that the lifecycle server makes after validation: labels, extensions, platform, timeout, volumes. Each failure
// is one {code, message}; the first one wins.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_RULES_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_RULES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/opensandbox/lifecycle_create_request.h"
#include "emulator/opensandbox/lifecycle_settings.h"

namespace opensandbox::emulator {

struct Refusal {
  int status = 400;
  std::string code, message;
};

inline constexpr std::string_view kReservedLabelPrefix = "opensandbox.io/";

// Kubernetes label syntax of a key that is set, and of its value.
std::optional<Refusal> CheckLabelSyntax(const std::string& key, const std::string& value);
// The metadata of a create: reserved prefix, then syntax, entry by entry.
std::optional<Refusal> CheckMetadataLabels(const StringPairs& metadata);
std::optional<Refusal> CheckExtensions(const StringPairs& extensions);
// Trims and lower-cases both.
std::optional<Refusal> CheckPlatform(std::pair<std::string, std::string>& platform);
// `created_micros`: now. Beyond year 9999 is refused first, then the server's maximum.
std::optional<Refusal> CheckTimeout(const WholeNumber& timeout, std::int64_t created_micros,
                                    const LifecycleSettings& settings);
std::optional<Refusal> CheckNetwork(const CreateRequest& request, const LifecycleSettings& settings);

// The driver of a named volume, if there is one of that name.
using VolumeDriver = std::function<std::optional<std::string>(const std::string& claim_name)>;
std::optional<Refusal> CheckVolumes(const std::vector<VolumeRequest>& volumes, const LifecycleSettings& settings,
                                    const VolumeDriver& driver_of);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_RULES_H_

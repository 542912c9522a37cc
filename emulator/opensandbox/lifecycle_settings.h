// What an operator of the real server writes into its configuration file, as far as clients can tell.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_SETTINGS_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_SETTINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace opensandbox::emulator {

struct LifecycleSettings {
  // server.max_sandbox_timeout_seconds; absent (as by default in the real server): no maximum.
  std::optional<std::int64_t> sandbox_timeout_seconds_max;
  // server.eip: the host that endpoints name instead of the one we listen on. Empty: none.
  std::string external_host;
  // docker.network_mode: "bridge", "host" or the name of a network. Anything but "bridge" refuses network policies.
  std::string network_mode = "bridge";
  // Whether a network of that name exists, if network_mode names one.
  bool network_exists = true;
  // Whether egress.image is configured; without it network policies are refused.
  bool egress_configured = true;
  // storage.allowed_host_paths. Absent: any path, which the real server has no word for; its default is an empty list,
  // which refuses every path, and the SDKs' own suites fail with it.
  std::optional<std::vector<std::string>> allowed_host_paths;
  // Named volumes that are there from the start, with their drivers ("local", "nfs").
  std::map<std::string, std::string> named_volumes;
};

// What Call::settings == nullptr means.
const LifecycleSettings& DefaultLifecycleSettings();

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_SETTINGS_H_

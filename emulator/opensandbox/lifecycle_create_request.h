// The body of POST /sandboxes, checked field by field and rule by rule (wire reference 1.8).
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_CREATE_REQUEST_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_CREATE_REQUEST_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/opensandbox/lifecycle_json.h"
#include "emulator/opensandbox/lifecycle_validation.h"

namespace opensandbox::emulator {

struct NetworkPolicy {
  std::optional<std::string> default_action;
  std::vector<std::pair<std::string, std::string>> egress;  // action, target
  std::string ToJson() const;                               // compact, wire names, nulls left out
};

struct VolumeRequest {
  struct NamedVolume {
    std::string claim_name;
    bool create_if_not_exists = true;
    bool delete_on_sandbox_termination = false;
  };
  struct ObjectStore {
    std::string bucket, endpoint, version = "2.0";
    std::vector<std::string> options;
  };
  std::string name;
  std::string mount_path;
  bool read_only = false;
  std::optional<std::string> sub_path;
  // Exactly one of these.
  std::optional<std::string> host_path;
  std::optional<NamedVolume> pvc;
  std::optional<ObjectStore> ossfs;
};

struct CreateRequest {
  std::optional<std::string> image_uri;
  std::optional<std::string> snapshot_id;
  std::optional<std::pair<std::string, std::string>> platform;  // os, arch
  std::optional<WholeNumber> timeout;
  std::optional<StringPairs> resource_limits;
  std::optional<NullableStringPairs> env;
  std::optional<StringPairs> metadata;
  std::optional<std::vector<std::string>> entrypoint;
  std::optional<NetworkPolicy> network_policy;
  bool credential_proxy = false;
  bool secure_access = false;
  std::vector<VolumeRequest> volumes;
  std::optional<StringPairs> extensions;

  // The value of extensions.poolRef, trimmed; empty: none.
  std::string PoolRef() const;
};

// nullopt if there are errors.
std::optional<CreateRequest> CheckCreateRequest(const Json& body, const Loc& loc, ValidationErrors& errors);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_CREATE_REQUEST_H_

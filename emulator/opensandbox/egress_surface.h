// The egress sidecar's HTTP API on port 18080 (wire reference 3.1, 3.2).
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_EGRESS_SURFACE_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_EGRESS_SURFACE_H_

#include <string>

#include "emulator/opensandbox/execd_reply.h"

namespace opensandbox::emulator {

// Any request to the sidecar. Only for a sandbox that has one (it was created with a network policy). What is not
// emulated yet (changing the policy, the credential vault) answers 501.
ReplyPlan HandleEgress(const PortRequest& request);

// The body of GET /policy for the policy that the create request gave, as JSON.
std::string EgressPolicyJson(const std::string& network_policy_json);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_EGRESS_SURFACE_H_

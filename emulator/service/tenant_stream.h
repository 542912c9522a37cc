// A body source that keeps its tenant alive and ends with the tenant's world.
#ifndef OPENSANDBOX_EMULATOR_SERVICE_TENANT_STREAM_H_
#define OPENSANDBOX_EMULATOR_SERVICE_TENANT_STREAM_H_

#include <memory>

#include "emulator/core/reply_plan.h"
#include "emulator/service/tenant.h"

namespace opensandbox::emulator {

// Wraps `inner`, which may use the tenant and its scenario as long as it lives. When the tenant's world is no longer
// number `world`, the stream breaks off where it stands (a FIN, no terminator), without asking `inner` again.
std::unique_ptr<BodySource> MakeTenantStream(std::shared_ptr<Tenant> tenant, std::uint64_t world,
                                             std::shared_ptr<const Scenario> scenario,
                                             std::unique_ptr<BodySource> inner);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SERVICE_TENANT_STREAM_H_

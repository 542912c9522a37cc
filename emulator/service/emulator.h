// The embeddable emulator: listeners, tenants, dispatch.
#ifndef OPENSANDBOX_EMULATOR_SERVICE_EMULATOR_H_
#define OPENSANDBOX_EMULATOR_SERVICE_EMULATOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/scenario/loader.h"
#include "emulator/scenario/verdict.h"
#include "emulator/service/tenant.h"
#include "opensandbox/base/result.h"

namespace opensandbox::emulator {

struct TenantOptions {
  std::string name = "default";              // 1 to 200 bytes, no '/', no control character; not "." or ".."
  std::string api_key;                       // visible ASCII, or "": requests without a key are this tenant's
  std::shared_ptr<const Scenario> scenario;  // null: DefaultScenario()
  std::shared_ptr<Clock> clock;              // null: the emulator's default clock
  std::optional<std::uint64_t> seed;         // overrides the scenario's
  bool strict = false;
};

struct EmulatorOptions {
  std::string host = "127.0.0.1";
  int port = 0;
  // Absent: no control listener. 0: any port.
  std::optional<int> control_port;
  // Empty: one tenant "default" without a key. As long as no tenant has a key, every key, or none, is accepted and
  // means that tenant (as a server without a configured key). Once one has: a key nobody has is 401, and so is none
  // unless there is a tenant without a key beside them. A host other than loopback needs a key for every tenant.
  std::vector<TenantOptions> tenants;
  std::shared_ptr<Clock> clock;        // null: real time
  std::uint64_t seed = 0;              // 0: drawn, and reported
  Profile profile = Profile::kDocker;  // another than docker beats the scenarios'
  std::size_t request_body_bytes_max = 8 << 20;
  std::size_t request_head_bytes_max = 64 << 10;
  std::size_t connections_max = 20000;
  std::size_t journal_entries_max = 10000;
  std::size_t tenants_max = 10000;
  std::size_t sandboxes_live_max = 200000;  // per tenant
};

class Emulator {
 public:
  // kInvalidArgument (a bad host or port), kTransport (port in use, no permission): one clear line.
  static Result<std::unique_ptr<Emulator>> Start(EmulatorOptions options);
  virtual ~Emulator() = default;  // stops

  virtual std::string address() const = 0;          // "127.0.0.1:8080"
  virtual std::string base_url() const = 0;         // "http://127.0.0.1:8080/v1"
  virtual std::string control_address() const = 0;  // empty without one
  virtual std::uint64_t seed() const = 0;
  virtual TimePoint started() const = 0;  // on the emulator's own clock

  // Stops accepting, ends open exchanges (after at most `grace` of real time for those that end by themselves), joins.
  virtual void Stop(Duration grace) = 0;

  // --- what the control API does too; `tenant` is a name -------------------------------------------------------------
  // Error::http_status tells failures apart: 400 a bad name or key, 404 no such tenant, 409 the key is another
  // tenant's, 429 too many tenants. Adds the tenant, or replaces the one of that name (its streams end).
  virtual Result<void> AddTenant(const TenantOptions& options) = 0;
  // Not the last one (409).
  virtual Result<void> RemoveTenant(const std::string& tenant) = 0;
  // Replaces the scenario (null: DefaultScenario()) and starts the tenant anew (ledger, journal, counters). Streams
  // that run in its sandboxes end; those sandboxes are gone.
  virtual Result<void> LoadScenario(const std::string& tenant, std::shared_ptr<const Scenario> scenario) = 0;
  virtual Result<void> Reset(const std::string& tenant) = 0;
  virtual Result<Verdict> JudgeTenant(const std::string& tenant, const std::vector<std::string>& step_failures) = 0;
  virtual std::vector<std::string> TenantNames() const = 0;  // sorted
  // Null if unknown. Lock its mutex.
  virtual std::shared_ptr<Tenant> FindTenant(const std::string& name) const = 0;
  // The tenant that requests without any sign of another belong to: "default", or the first one added.
  virtual std::shared_ptr<Tenant> FallbackTenant() const = 0;
  // Requests turned away before their tenant was known, oldest first.
  virtual std::vector<JournalEntry> RejectedRequests() const = 0;
  // Requested through the control API; `serve` waits for it.
  virtual bool shutdown_requested() const = 0;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SERVICE_EMULATOR_H_

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
  std::string name = "default";
  std::string api_key;
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
  // "" with no tenants of their own key: every key, or none, is accepted and means the default tenant (as a server
  // without a configured key). A key nobody has: 401.
  std::vector<TenantOptions> tenants;
  std::shared_ptr<Clock> clock;              // null: real time
  std::uint64_t seed = 0;                    // 0: drawn, and reported
  Profile profile = Profile::kDocker;
  std::size_t request_body_bytes_max = 8 << 20;
  std::size_t request_head_bytes_max = 64 << 10;
  std::size_t connections_max = 20000;
  std::size_t journal_entries_max = 10000;
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

  // Stops accepting, ends open exchanges (after at most `grace` of real time for those that end by themselves), joins.
  virtual void Stop(Duration grace) = 0;

  // --- what the control API does too; `tenant` is a name -------------------------------------------------------------
  virtual Result<void> AddTenant(const TenantOptions& options) = 0;
  // Replaces the scenario and starts the tenant anew (ledger, journal, counters).
  virtual Result<void> LoadScenario(const std::string& tenant, std::shared_ptr<const Scenario> scenario) = 0;
  virtual Result<void> Reset(const std::string& tenant) = 0;
  virtual Result<Verdict> JudgeTenant(const std::string& tenant, const std::vector<std::string>& step_failures) = 0;
  virtual std::vector<std::string> TenantNames() const = 0;
  // Null if unknown. Lock its mutex.
  virtual std::shared_ptr<Tenant> FindTenant(const std::string& name) const = 0;
  // Requested through the control API; `serve` waits for it.
  virtual bool shutdown_requested() const = 0;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SERVICE_EMULATOR_H_

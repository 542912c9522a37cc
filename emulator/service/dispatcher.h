// Takes a request to its tenant, through the scenario and the surface, to a plan.
#ifndef OPENSANDBOX_EMULATOR_SERVICE_DISPATCHER_H_
#define OPENSANDBOX_EMULATOR_SERVICE_DISPATCHER_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/http/http_server.h"
#include "emulator/service/call.h"
#include "emulator/service/tenant_registry.h"
#include "opensandbox/base/random.h"

namespace opensandbox::emulator {

// Thread-safe; no sockets. In this order: route, tenant, key, time, journal, scenario, surface, faults. A request that
// is turned away for its key counts in no scenario rule. The registry must outlive the dispatcher; the exchanges that
// it began may outlive both.
class Dispatcher {
 public:
  struct Options {
    std::shared_ptr<Clock> clock;  // of requests that belong to no tenant; required
    std::uint64_t seed = 1;        // of their request ids
    Profile profile = Profile::kDocker;
    std::size_t journal_entries_max = 10000;
  };

  Dispatcher(TenantRegistry& registry, Options options);

  HttpServer::Handled Handle(const Request& request);

  // Requests turned away before their tenant was known, oldest first.
  std::vector<JournalEntry> RejectedRequests() const;

 private:
  enum class Access { kAllowed, kMissingKey, kInvalidKey };
  struct Owner {
    std::shared_ptr<Tenant> tenant;  // null: unknown
    Access access = Access::kAllowed;
  };
  // A journal of requests without a tenant. Shared with open exchanges.
  struct Rejected {
    Rejected(std::uint64_t seed, std::size_t entries_max)
        : journal(entries_max), random(SeededRandom::ForPurpose(seed, "rejected")) {}
    std::mutex mutex;
    Journal journal;
    SeededRandom random;
  };

  Owner FindOwner(const Request& request, const Route& route) const;
  HttpServer::Handled Serve(const Request& request, const Route& route, std::shared_ptr<Tenant> tenant) const;
  void AddLate(Tenant& tenant, const Request& request, const Route& route, TimePoint due, std::uint64_t number,
               const std::string& request_id) const;
  HttpServer::Handled RejectIn(const Request& request, const Route& route, std::shared_ptr<Tenant> tenant,
                               Access access) const;
  HttpServer::Handled RejectUnowned(const Request& request, const Route& route, Access access) const;

  TenantRegistry& registry_;
  const Options options_;
  const std::shared_ptr<Rejected> rejected_;
};

// Where a client reaches the emulator, as "host:port": the request's Host header if it is a plausible authority, else
// the address that the request came in on.
std::string PublicAddress(const Request& request);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SERVICE_DISPATCHER_H_

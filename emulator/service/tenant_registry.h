// All tenants of one emulator, and which request belongs to which.
#ifndef OPENSANDBOX_EMULATOR_SERVICE_TENANT_REGISTRY_H_
#define OPENSANDBOX_EMULATOR_SERVICE_TENANT_REGISTRY_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/service/emulator.h"
#include "emulator/service/tenant.h"
#include "opensandbox/base/result.h"

namespace opensandbox::emulator {

// Sandbox id to tenant: execd, egress and proxy requests carry no key. Thread-safe. Ids stay after the sandbox's end,
// so that a request for a dead one reaches the tenant that knew it; the newest `ended_max` of those are kept.
class SandboxIndex {
 public:
  explicit SandboxIndex(std::size_t ended_max = 100000) : ended_max_(ended_max) {}
  void Add(const std::string& sandbox_id, std::weak_ptr<Tenant> tenant);
  // The sandbox ended: its entry may be forgotten one day.
  void NoteEnded(const std::string& sandbox_id);
  // Null if unknown or if the tenant is gone.
  std::shared_ptr<Tenant> Find(const std::string& sandbox_id) const;
  std::size_t size() const;

 private:
  const std::size_t ended_max_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Tenant>> tenants_;
  std::deque<std::string> ended_;  // oldest first
};

// Thread-safe. A tenant's mutex may be held while the index is used, never while the registry's other functions are.
class TenantRegistry {
 public:
  struct Options {
    std::shared_ptr<Clock> clock;  // of tenants without their own; required
    std::uint64_t seed = 1;        // of tenants and scenarios without their own
    std::size_t journal_entries_max = 10000;
    std::size_t tenants_max = 10000;
    std::size_t sandboxes_live_max = 200000;  // per tenant
    bool keys_required = false;               // a keyless tenant is refused
  };
  // What a tenant not named by the request is called, and the name used by default.
  static constexpr char kDefaultName[] = "default";

  explicit TenantRegistry(Options options);
  TenantRegistry(const TenantRegistry&) = delete;
  TenantRegistry& operator=(const TenantRegistry&) = delete;

  // Adds a tenant, or replaces the one of that name and ends its streams. Error::http_status tells the failures apart:
  // 400 a bad name or key, 409 the key is another tenant's, 429 too many tenants.
  Result<void> Put(const TenantOptions& options);
  // As Put, but 409 if the name is taken.
  Result<void> Add(const TenantOptions& options);
  // 404 if unknown, 409 if it is the last one.
  Result<void> Remove(const std::string& name);
  // Begins a new world: empty store, journal and counters. Streams of the old world end. Null `scenario`: the default
  // scenario. 404 if unknown.
  Result<void> LoadScenario(const std::string& name, std::shared_ptr<const Scenario> scenario);
  // The same with the scenario that is loaded.
  Result<void> Reset(const std::string& name);

  // Judges the tenant's world as it is now. 404 if unknown.
  Result<Verdict> Judge(const std::string& name, const std::vector<std::string>& step_failures) const;

  std::vector<std::string> Names() const;  // sorted
  std::shared_ptr<Tenant> FindByName(const std::string& name) const;
  // Not for "".
  std::shared_ptr<Tenant> FindByKey(const std::string& key) const;
  std::shared_ptr<Tenant> FindBySandbox(const std::string& sandbox_id) const { return index_->Find(sandbox_id); }
  void NoteSandbox(const std::string& sandbox_id, const std::shared_ptr<Tenant>& tenant) {
    index_->Add(sandbox_id, tenant);
  }
  // The tenant without a key; null if all have one.
  std::shared_ptr<Tenant> Keyless() const;
  // The tenant of requests that tell nothing: "default", or the first one added. Null only while there is none.
  std::shared_ptr<Tenant> Fallback() const;
  bool has_keys() const;  // some tenant has a key
  std::size_t size() const;
  const SandboxIndex& index() const { return *index_; }
  // For what may outlive the registry.
  std::shared_ptr<SandboxIndex> shared_index() const { return index_; }

 private:
  Result<void> Put(const TenantOptions& options, bool replace);
  void BeginWorld(Tenant& tenant, std::shared_ptr<const Scenario> scenario);

  const Options options_;
  const std::shared_ptr<SandboxIndex> index_;  // shared with the stores' listeners, which may outlive the registry
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Tenant>> by_name_;
  std::unordered_map<std::string, std::shared_ptr<Tenant>> by_key_;
  std::vector<std::string> order_;  // names as added
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SERVICE_TENANT_REGISTRY_H_

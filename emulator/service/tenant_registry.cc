#include "emulator/service/tenant_registry.h"

#include <algorithm>
#include <utility>

#include "emulator/opensandbox/execd_stream.h"

namespace opensandbox::emulator {
namespace {

constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kKeyBytesMax = 4096;

Error Refused(int http_status, std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.http_status = http_status;
  error.message = std::move(message);
  return error;
}

Error NoSuchTenant(const std::string& name) { return Refused(404, "there is no tenant '" + name + "'"); }

std::optional<Error> CheckName(const std::string& name) {
  if (name.empty()) return Refused(400, "a tenant's name must not be empty");
  if (name.size() > kNameBytesMax) {
    return Refused(400, "a tenant's name is " + std::to_string(name.size()) + " bytes long; at most " +
                            std::to_string(kNameBytesMax) + " are allowed");
  }
  const bool bad = std::any_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f || c == '/';
  });
  if (bad || name == "." || name == "..") {
    return Refused(400, "a tenant's name must not be '.' or '..' and must not contain '/' or control characters");
  }
  return std::nullopt;
}

// Never shows the key.
std::optional<Error> CheckKey(const TenantOptions& options) {
  const std::string& key = options.api_key;
  const std::string whose = "the API key of tenant '" + options.name + "' ";
  if (key.size() > kKeyBytesMax) {
    return Refused(400, whose + "is longer than " + std::to_string(kKeyBytesMax) + " bytes");
  }
  const bool visible = std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!visible) return Refused(400, whose + "must be visible ASCII characters without blanks");
  return std::nullopt;
}

}  // namespace

void SandboxIndex::Add(const std::string& sandbox_id, std::weak_ptr<Tenant> tenant) {
  std::lock_guard lock(mutex_);
  tenants_[sandbox_id] = std::move(tenant);
}

void SandboxIndex::NoteEnded(const std::string& sandbox_id) {
  std::lock_guard lock(mutex_);
  ended_.push_back(sandbox_id);
  while (ended_.size() > ended_max_) {
    tenants_.erase(ended_.front());
    ended_.pop_front();
  }
}

std::shared_ptr<Tenant> SandboxIndex::Find(const std::string& sandbox_id) const {
  std::shared_lock lock(mutex_);
  const auto found = tenants_.find(sandbox_id);
  return found == tenants_.end() ? nullptr : found->second.lock();
}

std::size_t SandboxIndex::size() const {
  std::shared_lock lock(mutex_);
  return tenants_.size();
}

TenantRegistry::TenantRegistry(Options options)
    : options_(std::move(options)), index_(std::make_shared<SandboxIndex>()) {}

Result<void> TenantRegistry::Put(const TenantOptions& options) { return Put(options, true); }
Result<void> TenantRegistry::Add(const TenantOptions& options) { return Put(options, false); }

Result<void> TenantRegistry::Put(const TenantOptions& options, bool replace) {
  if (auto error = CheckName(options.name)) return *std::move(error);
  if (auto error = CheckKey(options)) return *std::move(error);
  if (options.api_key.empty() && options_.keys_required) {
    return Refused(400, "tenant '" + options.name +
                            "' has no API key; every tenant needs one because the emulator listens on an address that "
                            "is not loopback");
  }
  auto tenant = std::make_shared<Tenant>();
  tenant->name = options.name;
  tenant->api_key = options.api_key;
  tenant->clock = options.clock != nullptr ? options.clock : options_.clock;
  tenant->seed_override = options.seed;
  tenant->strict = options.strict;
  std::shared_ptr<Tenant> old;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = by_name_.find(options.name); found != by_name_.end()) old = found->second;
    if (old != nullptr && !replace) return Refused(409, "there already is a tenant '" + options.name + "'");
    if (old == nullptr && by_name_.size() >= options_.tenants_max) {
      return Refused(429, "there are already " + std::to_string(options_.tenants_max) + " tenants, the most allowed");
    }
    const auto owner = by_key_.find(options.api_key);
    if (owner != by_key_.end() && owner->second != old) {
      return Refused(409, options.api_key.empty() ? "tenant '" + owner->second->name +
                                                        "' has no API key already; only one tenant may have none"
                                                  : "the API key of tenant '" + options.name +
                                                        "' is already that of tenant '" + owner->second->name + "'");
    }
    // Ids go on counting worlds, so that a replaced tenant does not give out its predecessor's sandbox ids again.
    if (old != nullptr) {
      tenant->world = old->world.load();
      by_key_.erase(old->api_key);
    } else {
      order_.push_back(options.name);
    }
    BeginWorld(*tenant, options.scenario);  // nobody else knows it yet
    by_name_[options.name] = tenant;
    by_key_[options.api_key] = tenant;
  }
  if (old != nullptr) BeginWorld(*old, nullptr);
  return {};
}

Result<void> TenantRegistry::Remove(const std::string& name) {
  std::shared_ptr<Tenant> old;
  {
    std::lock_guard lock(mutex_);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return NoSuchTenant(name);
    if (by_name_.size() == 1) return Refused(409, "tenant '" + name + "' is the last one and can't be removed");
    old = found->second;
    by_key_.erase(old->api_key);
    by_name_.erase(found);
    order_.erase(std::find(order_.begin(), order_.end(), name));
  }
  BeginWorld(*old, nullptr);
  return {};
}

Result<void> TenantRegistry::LoadScenario(const std::string& name, std::shared_ptr<const Scenario> scenario) {
  const std::shared_ptr<Tenant> tenant = FindByName(name);
  if (tenant == nullptr) return NoSuchTenant(name);
  BeginWorld(*tenant, std::move(scenario));
  return {};
}

Result<void> TenantRegistry::Reset(const std::string& name) {
  const std::shared_ptr<Tenant> tenant = FindByName(name);
  if (tenant == nullptr) return NoSuchTenant(name);
  std::shared_ptr<const Scenario> scenario;
  {
    std::lock_guard lock(tenant->mutex);
    scenario = tenant->scenario;
  }
  BeginWorld(*tenant, std::move(scenario));
  return {};
}

void TenantRegistry::BeginWorld(Tenant& tenant, std::shared_ptr<const Scenario> scenario) {
  if (scenario == nullptr) scenario = DefaultScenario();
  // Freed after the lock: a big world takes a while.
  std::unique_ptr<SandboxStore> old_store;
  std::unique_ptr<Journal> old_journal;
  std::unique_ptr<ScenarioEngine> old_engine;
  {
    std::lock_guard lock(tenant.mutex);
    const std::uint64_t world = ++tenant.world;
    tenant.scenario = scenario;
    tenant.seed = tenant.seed_override.value_or(scenario->seed.value_or(options_.seed));
    tenant.loaded = tenant.clock->Now();
    old_store = std::exchange(
        tenant.store,
        std::make_unique<SandboxStore>(SandboxStore::Options{
            // Tenants with one seed, and the worlds of one tenant, must not share sandbox ids: a client that still has
            // an old id would find somebody else's sandbox.
            .seed = SeededRandom::ForPurpose(tenant.seed, "sandboxes of tenant " + tenant.name, world).Next(),
            .live_max = options_.sandboxes_live_max}));
    old_journal = std::exchange(tenant.journal, std::make_unique<Journal>(options_.journal_entries_max));
    old_engine = std::exchange(tenant.engine, std::make_unique<ScenarioEngine>(scenario, tenant.seed));
    tenant.execd.clear();
    tenant.late.clear();
    tenant.store->SetListener([index = index_, &tenant](const Sandbox& sandbox) {
      if (sandbox.end.has_value()) index->NoteEnded(sandbox.id);
      WakeExecutions(tenant, sandbox);
    });
  }
  tenant.streams.WakeAll();
  if (old_store == nullptr) return;
  for (const Sandbox* sandbox : old_store->List()) index_->NoteEnded(sandbox->id);
}

Result<Verdict> TenantRegistry::Judge(const std::string& name, const std::vector<std::string>& step_failures) const {
  const std::shared_ptr<Tenant> tenant = FindByName(name);
  if (tenant == nullptr) return NoSuchTenant(name);
  std::lock_guard lock(tenant->mutex);
  const TimePoint now = tenant->clock->Now();
  tenant->AdvanceTo(now);
  return emulator::Judge(*tenant->scenario, *tenant->engine, *tenant->store, *tenant->journal, tenant->loaded, now,
                         tenant->strict, step_failures);
}

std::vector<std::string> TenantRegistry::Names() const {
  std::vector<std::string> names;
  {
    std::shared_lock lock(mutex_);
    names = order_;
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::shared_ptr<Tenant> TenantRegistry::FindByName(const std::string& name) const {
  std::shared_lock lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::shared_ptr<Tenant> TenantRegistry::FindByKey(const std::string& key) const {
  if (key.empty()) return nullptr;
  std::shared_lock lock(mutex_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

std::shared_ptr<Tenant> TenantRegistry::Keyless() const {
  std::shared_lock lock(mutex_);
  const auto found = by_key_.find("");
  return found == by_key_.end() ? nullptr : found->second;
}

std::shared_ptr<Tenant> TenantRegistry::Fallback() const {
  std::shared_lock lock(mutex_);
  if (order_.empty()) return nullptr;
  const auto found = by_name_.find(kDefaultName);
  return found != by_name_.end() ? found->second : by_name_.at(order_.front());
}

bool TenantRegistry::has_keys() const {
  std::shared_lock lock(mutex_);
  // Keys are unique, "" included.
  return by_key_.size() > by_key_.count("");
}

std::size_t TenantRegistry::size() const {
  std::shared_lock lock(mutex_);
  return by_name_.size();
}

}  // namespace opensandbox::emulator

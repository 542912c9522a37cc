#include "emulator/service/dispatcher.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "emulator/faults/fault.h"
#include "emulator/opensandbox/surfaces.h"
#include "emulator/service/tenant_stream.h"

namespace opensandbox::emulator {
namespace {

constexpr char kApiKeyHeader[] = "OPEN-SANDBOX-API-KEY";
constexpr std::size_t kAuthorityBytesMax = 255;

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string TrimmedHeader(const Request& request, std::string_view name) {
  const std::optional<std::string> value = request.FindHeader(name);
  return value.has_value() ? std::string(Trim(*value)) : std::string();
}

JournalEntry NewEntry(const Request& request, const Route& route, std::string request_id, TimePoint now) {
  JournalEntry entry;
  entry.connection = request.connection;
  entry.operation = route.operation;
  entry.method = request.method;
  entry.target = request.target;
  entry.sandbox_id = route.sandbox_id;
  entry.request_id = std::move(request_id);
  entry.received = now;
  entry.request_body_bytes = request.body.size();
  return entry;
}

using PlacedFaults = std::vector<std::pair<std::string, Acted>>;

// Finishes the entry in the world that the request came to; a later world has other entries under the same numbers.
void FinishOnEnd(ReplyPlan& plan, std::shared_ptr<Tenant> tenant, std::uint64_t world, std::uint64_t number,
                 PlacedFaults placed = {}) {
  plan.on_end = [before = std::move(plan.on_end), tenant = std::move(tenant), world, number,
                 placed = std::move(placed)](const ExchangeEnd& end) {
    if (before) before(end);
    std::lock_guard lock(tenant->mutex);
    if (tenant->world.load() != world) return;
    tenant->journal->Finish(number, end);
    for (const auto& [rule, acted] : placed) {
      if (!*acted) tenant->engine->NoteMissed(rule);
    }
  };
}

std::uint64_t OpenStreams(const Tenant& tenant, const std::string& sandbox_id) {
  const auto state = tenant.execd.find(sandbox_id);
  if (state == tenant.execd.end()) return 0;
  return static_cast<std::uint64_t>(std::count_if(state->second.running.begin(), state->second.running.end(),
                                                  [](const auto& run) { return !run.second.stream.expired(); }));
}

bool AnyRuleLooksAtImages(const Scenario& scenario) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(),
                     [](const FaultRule& rule) { return rule.on.sandbox_image.has_value(); });
}

// The image of a create request; "" for a body that has none, whatever else is wrong with it.
std::string ImageOfCreate(const std::string& body) {
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return "";
  const auto image = json.find("image");
  if (image == json.end() || !image->is_object()) return "";
  const auto uri = image->find("uri");
  return uri != image->end() && uri->is_string() ? uri->get<std::string>() : std::string();
}

// The answer's place holder when the operation takes no effect: well-framed, so that faults start from valid HTTP.
ReplyPlan EmptyPlan() {
  ReplyPlan plan;
  plan.headers = {{"content-length", "0"}};
  return plan;
}

ReplyPlan Answer(Call& call) {
  const Sandbox* sandbox = call.tenant.store->FindAny(call.route.sandbox_id);
  if (sandbox != nullptr && sandbox->died) {
    if (std::optional<ReplyPlan> plan = HandleDead(call, *sandbox)) {
      if (call.sandbox_id_out != nullptr) *call.sandbox_id_out = sandbox->id;
      return *std::move(plan);
    }
  }
  return call.route.surface == Surface::kLifecycle ? HandleLifecycle(call) : HandleSandboxPort(call);
}

ReplyPlan RejectPlan(bool missing, const Request& request, const std::string& request_id, WallTime wall_now) {
  return missing ? MissingApiKey(request, request_id, wall_now) : InvalidApiKey(request, request_id, wall_now);
}

std::string Hex32(SeededRandom& random) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (int word = 0; word < 2; ++word) {
    std::uint64_t bits = random.Next();
    for (int i = 0; i < 16; ++i, bits >>= 4) hex.push_back(kDigits[bits & 15]);
  }
  return hex;
}

}  // namespace

std::string PublicAddress(const Request& request) {
  const std::string host = TrimmedHeader(request, "Host");
  const bool plausible =
      !host.empty() && host.size() <= kAuthorityBytesMax && std::all_of(host.begin(), host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
               c == '_' || c == ':' || c == '[' || c == ']';
      });
  return plausible ? host : request.local;
}

Dispatcher::Dispatcher(TenantRegistry& registry, Options options)
    : registry_(registry),
      options_(std::move(options)),
      rejected_(std::make_shared<Rejected>(options_.seed, options_.journal_entries_max)) {}

HttpServer::Handled Dispatcher::Handle(const Request& request) {
  const Route route = RouteRequest(request);
  Owner owner = FindOwner(request, route);
  if (owner.tenant == nullptr) return RejectUnowned(request, route, owner.access);
  if (owner.access != Access::kAllowed) return RejectIn(request, route, std::move(owner.tenant), owner.access);
  return Serve(request, route, std::move(owner.tenant));
}

Dispatcher::Owner Dispatcher::FindOwner(const Request& request, const Route& route) const {
  const std::string key = TrimmedHeader(request, kApiKeyHeader);
  // Which tenant a request means that its key does not tell.
  const auto by_sandbox = [&] {
    return route.sandbox_id.empty() ? nullptr : registry_.FindBySandbox(route.sandbox_id);
  };
  if (!NeedsApiKey(request, route)) {
    if (auto tenant = by_sandbox()) return {std::move(tenant), Access::kAllowed};
    if (auto tenant = registry_.FindByKey(key)) return {std::move(tenant), Access::kAllowed};
    return {registry_.Fallback(), Access::kAllowed};
  }
  if (auto tenant = registry_.FindByKey(key)) return {std::move(tenant), Access::kAllowed};
  auto keyless = registry_.Keyless();
  if (keyless != nullptr && (key.empty() || !registry_.has_keys())) return {std::move(keyless), Access::kAllowed};
  const Access access = key.empty() ? Access::kMissingKey : Access::kInvalidKey;
  auto tenant = by_sandbox();
  if (tenant == nullptr && registry_.size() == 1) tenant = registry_.Fallback();
  return {std::move(tenant), access};
}

HttpServer::Handled Dispatcher::RejectUnowned(const Request& request, const Route& route, Access access) const {
  std::string request_id = RequestIdOf(request, "");
  const WallTime wall_now = options_.clock->WallNow();
  std::uint64_t number = 0;
  {
    std::lock_guard lock(rejected_->mutex);
    if (request_id.empty()) request_id = Hex32(rejected_->random);
    JournalEntry entry = NewEntry(request, route, request_id, options_.clock->Now());
    entry.committed = false;
    number = rejected_->journal.Begin(std::move(entry));
  }
  ReplyPlan plan = RejectPlan(access == Access::kMissingKey, request, request_id, wall_now);
  plan.on_end = [rejected = rejected_, number](const ExchangeEnd& end) {
    std::lock_guard lock(rejected->mutex);
    rejected->journal.Finish(number, end);
  };
  return {std::move(plan), nullptr};
}

HttpServer::Handled Dispatcher::RejectIn(const Request& request, const Route& route, std::shared_ptr<Tenant> tenant,
                                         Access access) const {
  std::string request_id = RequestIdOf(request, "");
  std::shared_ptr<Clock> clock = tenant->clock;
  std::uint64_t number = 0;
  std::uint64_t world = 0;
  {
    std::lock_guard lock(tenant->mutex);
    const TimePoint now = clock->Now();
    tenant->AdvanceTo(now);
    if (request_id.empty()) request_id = tenant->store->NewHex32();
    JournalEntry entry = NewEntry(request, route, request_id, now);
    entry.committed = false;
    world = tenant->world.load();
    number = tenant->journal->Begin(std::move(entry));
  }
  ReplyPlan plan = RejectPlan(access == Access::kMissingKey, request, request_id, clock->WallNow());
  FinishOnEnd(plan, std::move(tenant), world, number);
  return {std::move(plan), std::move(clock)};
}

HttpServer::Handled Dispatcher::Serve(const Request& request, const Route& route,
                                      std::shared_ptr<Tenant> tenant) const {
  std::string request_id = RequestIdOf(request, "");
  std::shared_ptr<Clock> clock = tenant->clock;
  ReplyPlan plan;
  Decision decision;
  std::shared_ptr<const Scenario> scenario;  // owns what the decision points to
  std::uint64_t number = 0;
  std::uint64_t world = 0;
  WallTime wall_now{};
  {
    std::lock_guard lock(tenant->mutex);
    const TimePoint now = clock->Now();
    wall_now = clock->WallNow();
    world = tenant->world.load();
    scenario = tenant->scenario;
    SandboxStore& store = *tenant->store;
    tenant->AdvanceTo(now);
    if (request_id.empty()) request_id = store.NewHex32();
    number = tenant->journal->Begin(NewEntry(request, route, request_id, now));

    OperationCall operation_call;
    operation_call.operation = route.operation;
    operation_call.request = &request;
    operation_call.since_load = now - tenant->loaded;
    operation_call.live_sandboxes = store.live_count();
    bool stage_left = false;
    std::string state_before;
    if (!route.sandbox_id.empty()) {
      if (Sandbox* sandbox = store.Find(route.sandbox_id)) {
        state_before = sandbox->state;
        stage_left = store.NoteOperation(*sandbox, route.operation, now);
        operation_call.sandbox_image = sandbox->spec.image;
        operation_call.open_streams = OpenStreams(*tenant, route.sandbox_id);
        store.NoteDeath(*sandbox, route.operation, now);
      }
    } else if (route.operation == operation::kCreateSandbox && AnyRuleLooksAtImages(*scenario)) {
      operation_call.sandbox_image = ImageOfCreate(request.body);
    }
    decision = tenant->engine->Decide(operation_call);

    std::string sandbox_id = route.sandbox_id;
    std::string near_miss;
    std::vector<std::string> rules = decision.RuleIds();
    if (decision.commit_after) {
      AddLate(*tenant, request, route, now + *decision.commit_after, number, request_id);
    }
    if (decision.commit) {
      Call call{.request = request,
                .route = route,
                .tenant = *tenant,
                .now = now,
                .wall_now = wall_now,
                .number = number,
                .request_id = request_id,
                .public_address = PublicAddress(request),
                .profile = options_.profile != Profile::kDocker ? options_.profile : scenario->profile,
                .sandbox_id_out = &sandbox_id,
                .near_miss_out = &near_miss,
                .rules_out = &rules,
                .stage_left = stage_left,
                .state_before = std::move(state_before)};
      plan = Answer(call);
      if (route.operation == operation::kCreateSandbox && !sandbox_id.empty()) {
        registry_.NoteSandbox(sandbox_id, tenant);
      }
    } else {
      plan = EmptyPlan();
    }
    if (JournalEntry* entry = tenant->journal->Find(number)) {
      entry->sandbox_id = std::move(sandbox_id);
      entry->near_miss = std::move(near_miss);
      entry->rules = std::move(rules);
      entry->committed = decision.commit;
    }
  }
  // Without the lock: a fault may drop the surface's body source, whose destructor may need it.
  const bool execd_style = route.surface != Surface::kLifecycle && !route.via_server_proxy;
  if (decision.auth) {
    auto on_end = std::move(plan.on_end);
    plan = RejectPlan(*decision.auth == AuthFailure::kMissingKey, request, request_id, wall_now);
    plan.on_end = std::move(on_end);
  }
  PlacedFaults placed;
  plan = ApplyFaults(decision, std::move(plan),
                     {.wall_now = wall_now, .request_id = request_id, .execd_style = execd_style, .placed = &placed});
  if (plan.source != nullptr) plan.source = MakeTenantStream(tenant, world, scenario, std::move(plan.source));
  FinishOnEnd(plan, std::move(tenant), world, number, std::move(placed));
  return {std::move(plan), std::move(clock)};
}

void Dispatcher::AddLate(Tenant& tenant, const Request& request, const Route& route, TimePoint due,
                         std::uint64_t number, const std::string& request_id) const {
  // Runs with the tenant's lock held, in the world that the request came to.
  tenant.AddLate({due, number,
                  [this_tenant = &tenant, request, route, number, request_id, profile = options_.profile,
                   index = registry_.shared_index()](TimePoint now) {
                    Tenant& owner = *this_tenant;
                    std::string sandbox_id = route.sandbox_id;
                    std::vector<std::string> rules;
                    Call call{.request = request,
                              .route = route,
                              .tenant = owner,
                              .now = now,
                              .wall_now = owner.clock->WallNow() - (owner.clock->Now() - now),
                              .number = number,
                              .request_id = request_id,
                              .public_address = PublicAddress(request),
                              .profile = profile != Profile::kDocker ? profile : owner.scenario->profile,
                              .sandbox_id_out = &sandbox_id,
                              .rules_out = &rules};
                    if (Sandbox* sandbox = owner.store->Find(route.sandbox_id)) call.state_before = sandbox->state;
                    HandleLifecycle(call);
                    if (route.operation == operation::kCreateSandbox && !sandbox_id.empty()) {
                      index->Add(sandbox_id, owner.weak_from_this());
                    }
                    if (JournalEntry* entry = owner.journal->Find(number)) {
                      entry->sandbox_id = std::move(sandbox_id);
                      entry->committed = true;
                      entry->rules.insert(entry->rules.end(), rules.begin(), rules.end());
                    }
                  }});
}

std::vector<JournalEntry> Dispatcher::RejectedRequests() const {
  std::lock_guard lock(rejected_->mutex);
  const std::deque<JournalEntry>& entries = rejected_->journal.entries();
  return {entries.begin(), entries.end()};
}

}  // namespace opensandbox::emulator

#include "emulator/control/control_json.h"

#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>

#include "opensandbox/base/rfc3339.h"
#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {
namespace {

using Json = nlohmann::ordered_json;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Targets and scripted texts may hold any bytes; what is no UTF-8 is shown as U+FFFD.
std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json Pairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json json = Json::object();
  for (const auto& [name, value] : pairs) json[name] = value;
  return json;
}

std::string ModeName(const Clock& clock) {
  if (dynamic_cast<const VirtualClock*>(&clock) != nullptr) return "virtual";
  if (dynamic_cast<const ScaledClock*>(&clock) != nullptr) return "scaled";
  return "real";
}

// Hold the lock; returns the time that the world was brought to.
TimePoint Advance(Tenant& tenant) {
  const TimePoint now = tenant.clock->Now();
  tenant.AdvanceTo(now);
  return now;
}

Json SummaryJson(const LedgerSummary& summary) {
  return {
      {"created", summary.created}, {"deleted", summary.deleted}, {"expired", summary.expired}, {"live", summary.live}};
}

Json TenantObject(Tenant& tenant) {
  std::lock_guard lock(tenant.mutex);
  const TimePoint now = Advance(tenant);
  const Scenario& scenario = *tenant.scenario;
  Json loaded{{"name", scenario.name}};
  if (!scenario.file.empty()) loaded["file"] = scenario.file;
  if (!scenario.description.empty()) loaded["description"] = scenario.description;
  return {{"name", tenant.name},
          {"hasKey", !tenant.api_key.empty()},
          {"scenario", std::move(loaded)},
          {"seed", tenant.seed},
          {"strict", tenant.strict},
          {"clock", ModeName(*tenant.clock)},
          {"elapsed", Seconds(now - tenant.loaded)},
          {"sandboxes", SummaryJson(Summarise(*tenant.store))},
          {"requests", tenant.journal->total()},
          {"openRequests", tenant.journal->open_count()},
          {"streams", tenant.streams.size()}};
}

Json SandboxObject(const Sandbox& sandbox, TimePoint start) {
  Json history = Json::array();
  for (const StateChange& change : sandbox.history) {
    history.push_back({{"at", Seconds(change.at - start)},
                       {"state", change.state},
                       {"reason", change.reason},
                       {"message", change.message}});
  }
  Json json{{"number", sandbox.number},
            {"id", sandbox.id},
            {"image", sandbox.spec.image},
            {"state", sandbox.state},
            {"createdBy", sandbox.created_by},
            {"createdAt", Seconds(sandbox.created - start)},
            {"expiresAt", nullptr},
            {"lastTouchAt", Seconds(sandbox.last_touch - start)},
            {"rule", sandbox.behaviour.rule_id},
            {"metadata", Pairs(sandbox.spec.metadata)},
            {"stateChanges", sandbox.state_changes},
            {"history", std::move(history)},
            {"end", nullptr}};
  if (sandbox.expires.has_value()) json["expiresAt"] = Seconds(*sandbox.expires - start);
  if (sandbox.end.has_value()) {
    const bool expired = sandbox.end->by == SandboxEnd::By::kExpiry;
    json["end"] = {{"by", expired ? "expiry" : "delete"}, {"at", Seconds(sandbox.end->at - start)}};
    if (!expired) json["end"]["request"] = sandbox.end->request;
  }
  return json;
}

Json LeakObjects(const std::vector<LeakedSandbox>& leaks) {
  Json json = Json::array();
  for (const LeakedSandbox& leak : leaks) {
    json.push_back({{"id", leak.id},
                    {"number", leak.number},
                    {"expired", leak.expired},
                    {"age", Seconds(leak.age)},
                    {"sentence", leak.sentence}});
  }
  return json;
}

Json EntryObject(const JournalEntry& entry, TimePoint start) {
  Json json{{"number", entry.number},
            {"at", Seconds(entry.received - start)},
            {"connection", entry.connection},
            {"operation", entry.operation},
            {"method", entry.method},
            {"target", entry.target},
            {"sandboxId", entry.sandbox_id},
            {"requestId", entry.request_id},
            {"requestBodyBytes", entry.request_body_bytes},
            {"rules", entry.rules},
            {"committed", entry.committed},
            {"nearMiss", entry.near_miss},
            {"end", nullptr}};
  if (entry.end.has_value()) {
    json["end"] = {{"at", Seconds(entry.end->at - start)},
                   {"status", entry.end->status},
                   {"headBytes", entry.end->head_bytes},
                   {"bodyBytes", entry.end->body_bytes},
                   {"ending", nullptr},
                   {"clientClosed", entry.end->client_closed}};
    if (entry.end->ending.has_value()) json["end"]["ending"] = std::string(ToString(*entry.end->ending));
  }
  return json;
}

}  // namespace

std::string TenantJson(Tenant& tenant) { return Dump(TenantObject(tenant), 2); }

std::string TenantsJson(const std::vector<std::shared_ptr<Tenant>>& tenants) {
  Json list = Json::array();
  for (const std::shared_ptr<Tenant>& tenant : tenants) list.push_back(TenantObject(*tenant));
  return Dump({{"tenants", std::move(list)}}, 2);
}

std::string LedgerJson(Tenant& tenant, Page page) {
  Json json;
  {
    std::lock_guard lock(tenant.mutex);
    Advance(tenant);
    json["summary"] = SummaryJson(Summarise(*tenant.store));
    Json sandboxes = Json::array();
    for (const Sandbox* sandbox : tenant.store->All()) {
      if (sandboxes.size() >= page.limit) break;
      if (sandbox->number > page.after) sandboxes.push_back(SandboxObject(*sandbox, tenant.loaded));
    }
    json["sandboxes"] = std::move(sandboxes);
  }
  return Dump(json, 2);
}

std::string LeaksJson(Tenant& tenant) {
  std::vector<LeakedSandbox> leaks;
  {
    std::lock_guard lock(tenant.mutex);
    const TimePoint now = Advance(tenant);
    leaks = FindLeaks(*tenant.store, *tenant.journal, now, tenant.loaded);
  }
  return Dump({{"count", leaks.size()}, {"leaks", LeakObjects(leaks)}}, 2);
}

std::string ClockJson(Tenant& tenant) {
  TimePoint now{};
  TimePoint loaded{};
  std::optional<TimePoint> next_due;
  {
    std::lock_guard lock(tenant.mutex);
    now = Advance(tenant);
    loaded = tenant.loaded;
    next_due = tenant.store->NextDue();
  }
  Json waits = Json::array();
  if (next_due.has_value()) {
    waits.push_back({{"what", "a sandbox's next state or expiry"}, {"in", Seconds(*next_due - now)}});
  }
  Json json{{"mode", ModeName(*tenant.clock)},
            {"now", FormatRfc3339(tenant.clock->WallNow(), 9)},
            {"elapsed", Seconds(now - loaded)},
            {"locked", false}};
  if (const auto* clock = dynamic_cast<const VirtualClock*>(tenant.clock.get())) {
    json["locked"] = clock->locked();
    json["standsStillBecause"] = clock->Blockers();
    for (const VirtualClock::Pending& pending : clock->PendingDeadlines()) {
      Json wait{{"what", pending.label}, {"in", nullptr}};
      if (pending.deadline != TimePoint::max()) wait["in"] = Seconds(pending.deadline - now);
      waits.push_back(std::move(wait));
    }
  } else if (const auto* scaled = dynamic_cast<const ScaledClock*>(tenant.clock.get())) {
    json["factor"] = scaled->factor();
  }
  json["waitsFor"] = std::move(waits);
  return Dump(json, 2);
}

std::string VerdictJson(const Verdict& verdict) {
  return Dump({{"passed", verdict.passed},
               {"failures", verdict.failures},
               {"warnings", verdict.warnings},
               {"sandboxes", SummaryJson(verdict.ledger)},
               {"leaks", LeakObjects(verdict.leaks)},
               {"requests", verdict.requests},
               {"faultsFired", verdict.faults_fired},
               {"elapsed", Seconds(verdict.virtual_duration)}},
              2);
}

JournalText JournalLines(Tenant& tenant, Page page) {
  JournalText text;
  std::vector<JournalEntry> entries;
  TimePoint start{};
  {
    std::lock_guard lock(tenant.mutex);
    start = tenant.loaded;
    text.total = tenant.journal->total();
    text.dropped = tenant.journal->dropped();
    // Copied, so that formatting does not hold up the tenant.
    for (const JournalEntry& entry : tenant.journal->entries()) {
      if (entries.size() >= page.limit) break;
      if (entry.number > page.after) entries.push_back(entry);
    }
  }
  text.lines = JournalLines(entries, start, page);
  return text;
}

std::string JournalLines(const std::vector<JournalEntry>& entries, TimePoint start, Page page) {
  std::string lines;
  std::uint64_t count = 0;
  for (const JournalEntry& entry : entries) {
    if (entry.number <= page.after) continue;
    if (count++ >= page.limit) break;
    lines += Dump(EntryObject(entry, start), -1);
  }
  return lines;
}

std::string ErrorJson(const std::string& message) { return Dump({{"error", message}}, 2); }

std::string ProblemsJson(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems) {
    list.push_back(
        {{"line", problem.line}, {"pointer", problem.pointer}, {"message", problem.message}, {"text", problem.Text()}});
  }
  const std::string count = problems.size() == 1 ? "1 mistake" : std::to_string(problems.size()) + " mistakes";
  return Dump({{"error", "the scenario has " + count}, {"problems", std::move(list)}}, 2);
}

}  // namespace opensandbox::emulator

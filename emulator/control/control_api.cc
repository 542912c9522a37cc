#include "emulator/control/control_api.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "emulator/control/control_body.h"
#include "emulator/control/control_json.h"
#include "emulator/control/loopback.h"
#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {
namespace {

using Json = nlohmann::ordered_json;

// Far from where a clock's nanoseconds end.
constexpr Duration kElapsedMax = std::chrono::hours(24) * 365 * 100;

ReplyPlan Reply(int status, std::string body, const char* content_type = "application/json") {
  ReplyPlan plan;
  plan.status = status;
  plan.headers = {
      {"content-type", content_type}, {"content-length", std::to_string(body.size())}, {"cache-control", "no-store"}};
  plan.body = std::move(body);
  return plan;
}

ReplyPlan Refuse(int status, const std::string& sentence) { return Reply(status, ErrorJson(sentence)); }
ReplyPlan Refuse(const Error& error) { return Refuse(error.http_status != 0 ? error.http_status : 500, error.message); }

// What a handler needs.
struct ControlCall {
  Emulator& emulator;
  const Request& request;
  const std::function<void()>& request_shutdown;
  std::string name;                // of the tenant the path names or, in a short form, means
  std::shared_ptr<Tenant> tenant;  // null for routes without one, and for a PUT of a new one
};

ReplyPlan ShowTenant(ControlCall& call) { return Reply(200, TenantJson(*call.tenant)); }

// The tenant after a change: a new object if it was replaced.
ReplyPlan ShowTenantNow(ControlCall& call, int status) {
  const std::shared_ptr<Tenant> tenant = call.emulator.FindTenant(call.name);
  if (tenant == nullptr) return Refuse(404, "there is no tenant '" + call.name + "' any more");
  return Reply(status, TenantJson(*tenant));
}

ReplyPlan ShowIndex(ControlCall& call);

ReplyPlan ShowHealth(ControlCall&) { return Reply(200, "{\"status\":\"healthy\"}\n"); }

ReplyPlan Shutdown(ControlCall& call) {
  call.request_shutdown();
  return Reply(202, "{\"shutdown\":\"requested\"}\n");
}

ReplyPlan ShowRejected(ControlCall& call) {
  const Result<Page> page = ParsePage(call.request);
  if (!page) return Refuse(page.error());
  return Reply(200, JournalLines(call.emulator.RejectedRequests(), call.emulator.started(), *page),
               "application/x-ndjson");
}

ReplyPlan ShowTenants(ControlCall& call) {
  std::vector<std::shared_ptr<Tenant>> tenants;
  for (const std::string& name : call.emulator.TenantNames()) {
    if (auto tenant = call.emulator.FindTenant(name)) tenants.push_back(std::move(tenant));
  }
  return Reply(200, TenantsJson(tenants));
}

ReplyPlan PutTenant(ControlCall& call) {
  Result<TenantBody> body = ParseTenantBody(call.request.body);
  if (!body) return Refuse(body.error());
  if (!body->problems.empty()) return Reply(422, ProblemsJson(body->problems));
  body->options.name = call.name;
  if (const Result<void> added = call.emulator.AddTenant(body->options); !added) return Refuse(added.error());
  return ShowTenantNow(call, call.tenant == nullptr ? 201 : 200);
}

ReplyPlan DeleteTenant(ControlCall& call) {
  if (const Result<void> removed = call.emulator.RemoveTenant(call.name); !removed) return Refuse(removed.error());
  return Reply(200, Json{{"removed", call.name}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

ReplyPlan PutScenario(ControlCall& call) {
  LoadedScenario loaded = ParseScenario(call.request.body, "scenario");
  if (!loaded.problems.empty() || loaded.scenario == nullptr) return Reply(422, ProblemsJson(loaded.problems));
  if (const Result<void> done = call.emulator.LoadScenario(call.name, std::move(loaded.scenario)); !done) {
    return Refuse(done.error());
  }
  return ShowTenantNow(call, 200);
}

ReplyPlan DeleteScenario(ControlCall& call) {
  if (const Result<void> done = call.emulator.LoadScenario(call.name, nullptr); !done) return Refuse(done.error());
  return ShowTenantNow(call, 200);
}

ReplyPlan ResetTenant(ControlCall& call) {
  if (const Result<void> done = call.emulator.Reset(call.name); !done) return Refuse(done.error());
  return ShowTenantNow(call, 200);
}

ReplyPlan ShowLedger(ControlCall& call) {
  const Result<Page> page = ParsePage(call.request);
  if (!page) return Refuse(page.error());
  return Reply(200, LedgerJson(*call.tenant, *page));
}

ReplyPlan ShowJournal(ControlCall& call) {
  const Result<Page> page = ParsePage(call.request);
  if (!page) return Refuse(page.error());
  JournalText text = JournalLines(*call.tenant, *page);
  ReplyPlan plan = Reply(200, std::move(text.lines), "application/x-ndjson");
  plan.headers.push_back({"journal-total", std::to_string(text.total)});
  plan.headers.push_back({"journal-dropped", std::to_string(text.dropped)});
  return plan;
}

ReplyPlan ShowLeaks(ControlCall& call) { return Reply(200, LeaksJson(*call.tenant)); }

ReplyPlan ShowVerdict(ControlCall& call) {
  const Result<Verdict> verdict = call.emulator.JudgeTenant(call.name, {});
  if (!verdict) return Refuse(verdict.error());
  return Reply(200, VerdictJson(*verdict));
}

ReplyPlan ShowClock(ControlCall& call) { return Reply(200, ClockJson(*call.tenant)); }

VirtualClock* VirtualClockOf(ControlCall& call) { return dynamic_cast<VirtualClock*>(call.tenant->clock.get()); }

ReplyPlan NotVirtual(ControlCall& call) {
  return Refuse(409, "the clock of tenant '" + call.name +
                         "' is not virtual; only a virtual clock can be locked, unlocked or advanced");
}

ReplyPlan LockClock(ControlCall& call) {
  VirtualClock* clock = VirtualClockOf(call);
  if (clock == nullptr) return NotVirtual(call);
  clock->Lock();
  return ShowClock(call);
}

ReplyPlan UnlockClock(ControlCall& call) {
  VirtualClock* clock = VirtualClockOf(call);
  if (clock == nullptr) return NotVirtual(call);
  if (!clock->Unlock()) return Refuse(409, "the clock of tenant '" + call.name + "' is not locked");
  return ShowClock(call);
}

ReplyPlan AdvanceClock(ControlCall& call) {
  VirtualClock* clock = VirtualClockOf(call);
  if (clock == nullptr) return NotVirtual(call);
  const Result<Duration> by = ParseAdvanceBody(call.request.body);
  if (!by) return Refuse(by.error());
  if (*by > kElapsedMax - std::min(clock->Elapsed(), kElapsedMax)) {
    return Refuse(400, "'by' would take the clock more than a hundred years from its start");
  }
  if (!clock->Advance(*by)) {
    return Refuse(409, "the clock of tenant '" + call.name + "' is locked; unlock it before it is advanced");
  }
  return ShowClock(call);
}

enum class Scope {
  kServer,     // no tenant
  kTenant,     // /tenants/{name}<path>, and <path> alone for the default tenant
  kNewTenant,  // /tenants/{name}, which may not exist yet
};

struct ControlRoute {
  std::string_view method;
  Scope scope;
  std::string_view path;
  std::string_view about;
  ReplyPlan (*handle)(ControlCall&);
};

constexpr std::array kRoutes = {
    ControlRoute{"GET", Scope::kServer, "/", "this list", ShowIndex},
    ControlRoute{"GET", Scope::kServer, "/health", "200 while the process serves", ShowHealth},
    ControlRoute{"POST", Scope::kServer, "/shutdown", "asks the process to end", Shutdown},
    ControlRoute{"GET", Scope::kServer, "/rejected",
                 "requests turned away before their tenant was known, as JSON Lines; ?after=N&limit=M", ShowRejected},
    ControlRoute{"GET", Scope::kServer, "/tenants", "all tenants", ShowTenants},
    ControlRoute{"GET", Scope::kTenant, "", "one tenant", ShowTenant},
    ControlRoute{"PUT", Scope::kNewTenant, "",
                 "create or replace a tenant: {apiKey, scenario?, seed?, clock?, strict?}", PutTenant},
    ControlRoute{"DELETE", Scope::kTenant, "", "remove a tenant", DeleteTenant},
    ControlRoute{"PUT", Scope::kTenant, "/scenario", "load the scenario in the body and start anew", PutScenario},
    ControlRoute{"DELETE", Scope::kTenant, "/scenario", "back to the default scenario, and start anew", DeleteScenario},
    ControlRoute{"POST", Scope::kTenant, "/reset", "start anew with the same scenario", ResetTenant},
    ControlRoute{"GET", Scope::kTenant, "/ledger", "every sandbox with its history; ?after=N&limit=M", ShowLedger},
    ControlRoute{"GET", Scope::kTenant, "/journal", "every request, as JSON Lines; ?after=N&limit=M", ShowJournal},
    ControlRoute{"GET", Scope::kTenant, "/leaks", "sandboxes that nobody deleted, in sentences", ShowLeaks},
    ControlRoute{"GET", Scope::kTenant, "/verdict", "what the scenario's expectations say now", ShowVerdict},
    ControlRoute{"GET", Scope::kTenant, "/clock", "the time and what it waits for", ShowClock},
    ControlRoute{"POST", Scope::kTenant, "/clock/lock", "hold a virtual clock (counted)", LockClock},
    ControlRoute{"POST", Scope::kTenant, "/clock/unlock", "let it go again", UnlockClock},
    ControlRoute{"POST", Scope::kTenant, "/clock/advance", "move a virtual clock: {\"by\": \"30s\"}", AdvanceClock},
};

std::string FullPath(const ControlRoute& route) {
  return (route.scope == Scope::kServer ? "" : "/tenants/{name}") + std::string(route.path);
}

Json RouteList() {
  Json list = Json::array();
  for (const ControlRoute& route : kRoutes) {
    Json row{{"method", std::string(route.method)}, {"path", FullPath(route)}};
    if (route.scope == Scope::kTenant && !route.path.empty()) row["short"] = std::string(route.path);
    row["about"] = std::string(route.about);
    list.push_back(std::move(row));
  }
  return list;
}

ReplyPlan ShowIndex(ControlCall& call) {
  return Reply(200, Json{{"name", "opensandbox-emulator control API"},
                         {"emulator", call.emulator.address()},
                         {"seed", call.emulator.seed()},
                         {"routes", RouteList()}}
                            .dump(2) +
                        "\n");
}

// A path as the table has it: which tenant it names, and what follows.
struct ControlPath {
  std::optional<std::string> name;  // decoded
  std::string_view rest;
};

ControlPath SplitPath(std::string_view path) {
  constexpr std::string_view kPrefix = "/tenants/";
  const std::size_t begin = kPrefix.size();
  const std::size_t end = std::min(path.find('/', begin), path.size());
  if (!path.starts_with(kPrefix) || end == begin) return {std::nullopt, path};
  return {PercentDecode(path.substr(begin, end - begin), false), path.substr(end)};
}

bool Fits(const ControlRoute& route, const ControlPath& path) {
  if (path.rest != route.path) return false;
  if (path.name.has_value()) return route.scope != Scope::kServer;
  return route.scope == Scope::kServer || (route.scope == Scope::kTenant && !route.path.empty());
}

// A web page that the user happens to look at must not drive the emulator: a browser sends Origin with whatever changes
// something, and the page's own host name in Host after a DNS rebinding.
std::optional<ReplyPlan> Guard(const Request& request) {
  if (request.FindHeader("Origin").has_value()) {
    return Refuse(403, "requests with an Origin header are refused: the control API is not for web pages");
  }
  const std::size_t colon = request.local.rfind(':');
  const std::string port = colon == std::string::npos ? "" : request.local.substr(colon + 1);
  std::size_t hosts = 0;
  bool loopback = true;
  for (const Header& header : request.headers) {
    const bool is_host = header.name.size() == 4 && std::equal(header.name.begin(), header.name.end(), "host",
                                                               [](char a, char b) { return (a | 0x20) == b; });
    if (!is_host) continue;
    ++hosts;
    loopback = loopback && IsLoopbackAuthority(header.value, port);
  }
  if (hosts != 1 || !loopback) {
    return Refuse(403,
                  "the Host header must be a loopback name or address (localhost, 127.0.0.1, [::1]) with this "
                  "listener's port or none");
  }
  return std::nullopt;
}

}  // namespace

ReplyPlan HandleControl(Emulator& emulator, const Request& request, const std::function<void()>& request_shutdown) {
  if (std::optional<ReplyPlan> refusal = Guard(request)) return *std::move(refusal);
  const ControlPath path = SplitPath(request.path);
  std::string allow;
  const ControlRoute* chosen = nullptr;
  for (const ControlRoute& route : kRoutes) {
    if (!Fits(route, path)) continue;
    allow += (allow.empty() ? "" : ", ") + std::string(route.method);
    if (route.method == request.method) chosen = &route;
  }
  if (allow.empty()) {
    return Reply(404, Json{{"error", "no such route: " + request.path}, {"routes", RouteList()}}.dump(
                          2, ' ', false, Json::error_handler_t::replace) +
                          "\n");
  }
  if (chosen == nullptr) {
    ReplyPlan plan = Refuse(405, request.method + " is not allowed here; allowed: " + allow);
    plan.headers.push_back({"allow", allow});
    return plan;
  }
  ControlCall call{emulator, request, request_shutdown, "", nullptr};
  if (chosen->scope != Scope::kServer) {
    call.tenant = path.name.has_value() ? emulator.FindTenant(*path.name) : emulator.FallbackTenant();
    call.name = path.name.has_value() ? *path.name : (call.tenant != nullptr ? call.tenant->name : "");
    if (call.tenant == nullptr && chosen->scope == Scope::kTenant) {
      return Refuse(404, "there is no tenant '" + call.name + "'");
    }
  }
  return chosen->handle(call);
}

}  // namespace opensandbox::emulator

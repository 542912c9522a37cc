#include "emulator/service/emulator.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/control/control_api.h"
#include "emulator/control/loopback.h"
#include "emulator/opensandbox/surfaces.h"
#include "emulator/service/dispatcher.h"
#include "emulator/service/tenant_registry.h"
#include "opensandbox/base/rfc3339.h"

namespace opensandbox::emulator {
namespace {

constexpr int kPortMax = 65535;
// The control API always listens here: it must not be reachable from elsewhere, wherever the emulator listens.
constexpr char kControlHost[] = "127.0.0.1";
// Scenario files, so larger than its own messages need.
constexpr std::size_t kControlBodyBytesMax = 16 << 20;

Error InvalidArgument(std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.message = std::move(message);
  return error;
}

std::shared_ptr<Clock> RealClock() { return {std::shared_ptr<Clock>(), &SystemClock::Instance()}; }

// Fits in a JSON number, which many programs read as a double.
std::uint64_t DrawSeed() {
  std::random_device device;
  std::uint64_t seed = 0;
  while (seed == 0) seed = ((std::uint64_t{device()} << 32) | device()) & ((std::uint64_t{1} << 53) - 1);
  return seed;
}

// As uvicorn answers by itself: date and server first, then the given fields; the connection is closed.
ReplyPlan ServerReply(int status, std::string content_type, std::string body, WallTime wall_now) {
  ReplyPlan plan;
  plan.status = status;
  plan.headers = {{"date", FormatHttpDate(wall_now)},
                  {"server", "uvicorn"},
                  {"content-type", std::move(content_type)},
                  {"content-length", std::to_string(body.size())},
                  {"connection", "close"}};
  plan.body = std::move(body);
  plan.ending = Ending::kClean;
  return plan;
}

HttpServerReplies ProviderReplies(const std::shared_ptr<Clock>& clock, std::size_t body_bytes_max) {
  return {
      .bad_request = [clock] { return InvalidHttpReply(clock->WallNow()); },
      .too_large =
          [clock, body_bytes_max] {
            // The real server has no limit; this one's refusal has the shape of its other errors.
            return ServerReply(413, "application/json",
                               R"({"code":"GENERAL::UNKNOWN_ERROR","message":"Request body is larger than )" +
                                   std::to_string(body_bytes_max) + R"( bytes."})",
                               clock->WallNow());
          },
      .over_limit =
          [clock] { return ServerReply(503, "text/plain; charset=utf-8", "Service Unavailable", clock->WallNow()); }};
}

HttpServerReplies ControlReplies() {
  const auto reply = [](int status, std::string_view message) {
    return ServerReply(status, "application/json", R"({"error":")" + std::string(message) + "\"}",
                       SystemClock::Instance().WallNow());
  };
  return {.bad_request = [reply] { return reply(400, "the request is no valid HTTP or its head is too large"); },
          .too_large = [reply] { return reply(413, "the request body is larger than 16 MiB"); },
          .over_limit = [reply] { return reply(503, "too many open connections"); }};
}

std::string BaseUrl(const std::string& address) {
  // A client can't connect to the wildcard address.
  constexpr std::string_view kWildcard = "0.0.0.0:";
  constexpr std::string_view kWildcard6 = "[::]:";
  if (address.starts_with(kWildcard)) return "http://127.0.0.1:" + address.substr(kWildcard.size()) + "/v1";
  if (address.starts_with(kWildcard6)) return "http://[::1]:" + address.substr(kWildcard6.size()) + "/v1";
  return "http://" + address + "/v1";
}

std::function<AcceptAction()> AcceptHook(const std::shared_ptr<Tenant>& owner) {
  if (owner == nullptr) return nullptr;
  return [owner] {
    std::lock_guard lock(owner->mutex);
    const auto action = owner->engine->DecideConnection(owner->clock->Now() - owner->loaded);
    if (!action) return AcceptAction::kServe;
    return *action == ListenerRule::Action::kHang ? AcceptAction::kHang : AcceptAction::kReset;
  };
}

std::vector<RefusalWindow> Refusals(const std::shared_ptr<Tenant>& owner) {
  std::vector<RefusalWindow> windows;
  if (owner == nullptr) return windows;
  const std::shared_ptr<const Scenario> scenario = owner->scenario;
  for (std::size_t i = 0; i < scenario->listener.size(); ++i) {
    const ListenerRule& rule = scenario->listener[i];
    if (rule.action != ListenerRule::Action::kRefuse) continue;
    windows.push_back({rule.from, rule.until, [owner, scenario, i] {
                         std::lock_guard lock(owner->mutex);
                         // Another scenario may have taken its place.
                         if (owner->scenario == scenario) owner->engine->NoteRefusing(i);
                       }});
  }
  std::sort(windows.begin(), windows.end(),
            [](const RefusalWindow& a, const RefusalWindow& b) { return a.from < b.from; });
  return windows;
}

class ListeningEmulator : public Emulator {
 public:
  ListeningEmulator(const EmulatorOptions& options, std::shared_ptr<Clock> clock, std::uint64_t seed)
      : seed_(seed),
        started_(clock->Now()),
        registry_({.clock = clock,
                   .seed = seed,
                   .journal_entries_max = options.journal_entries_max,
                   .tenants_max = options.tenants_max,
                   .sandboxes_live_max = options.sandboxes_live_max,
                   .keys_required = !IsLoopbackHost(options.host)}),
        dispatcher_(registry_, {.clock = std::move(clock),
                                .seed = seed,
                                .profile = options.profile,
                                .journal_entries_max = options.journal_entries_max}) {}
  ~ListeningEmulator() override { StopServers(Duration{0}); }

  Result<void> Listen(const EmulatorOptions& options, const std::shared_ptr<Clock>& clock) {
    if (options.tenants.empty()) {
      if (Result<void> added = registry_.Add({}); !added) return std::move(added).error();
    }
    for (const TenantOptions& tenant : options.tenants) {
      if (Result<void> added = registry_.Add(tenant); !added) return std::move(added).error();
    }
    // One listener serves all tenants: only with a single one is it clear whose rules are meant.
    std::shared_ptr<Tenant> listener_owner = registry_.size() == 1 ? registry_.Fallback() : nullptr;
    if (listener_owner != nullptr && listener_owner->scenario->listener.empty()) listener_owner = nullptr;
    auto server = HttpServer::Start(
        {.host = options.host,
         .port = options.port,
         .clock = clock,
         .body_bytes_max = options.request_body_bytes_max,
         .head_bytes_max = options.request_head_bytes_max,
         .connections_max = options.connections_max,
         .on_accept = AcceptHook(listener_owner),
         .refusals = Refusals(listener_owner)},
        [this](const Request& request) { return dispatcher_.Handle(request); },
        ProviderReplies(clock, options.request_body_bytes_max));
    if (!server) return std::move(server).error();
    server_ = *std::move(server);
    address_ = server_->address();
    if (!options.control_port.has_value()) return {};
    // On real time: it must answer while a tenant's clock stands still, and must not hold a clock that may jump.
    auto control = HttpServer::Start(
        {.host = kControlHost,
         .port = *options.control_port,
         .clock = RealClock(),
         .body_bytes_max = kControlBodyBytesMax},
        [this](const Request& request) -> HttpServer::Handled {
          return {HandleControl(*this, request, [this] { shutdown_requested_.store(true); }), nullptr};
        },
        ControlReplies());
    if (!control) return std::move(control).error();
    control_ = *std::move(control);
    control_address_ = control_->address();
    return {};
  }

  std::string address() const override { return address_; }
  std::string base_url() const override { return BaseUrl(address_); }
  std::string control_address() const override { return control_address_; }
  std::uint64_t seed() const override { return seed_; }
  TimePoint started() const override { return started_; }

  void Stop(Duration grace) override { StopServers(grace); }

  Result<void> AddTenant(const TenantOptions& options) override { return registry_.Put(options); }
  Result<void> RemoveTenant(const std::string& tenant) override { return registry_.Remove(tenant); }
  Result<void> LoadScenario(const std::string& tenant, std::shared_ptr<const Scenario> scenario) override {
    return registry_.LoadScenario(tenant, std::move(scenario));
  }
  Result<void> Reset(const std::string& tenant) override { return registry_.Reset(tenant); }
  Result<Verdict> JudgeTenant(const std::string& tenant, const std::vector<std::string>& step_failures) override {
    return registry_.Judge(tenant, step_failures);
  }
  std::vector<std::string> TenantNames() const override { return registry_.Names(); }
  std::shared_ptr<Tenant> FindTenant(const std::string& name) const override { return registry_.FindByName(name); }
  std::shared_ptr<Tenant> FallbackTenant() const override { return registry_.Fallback(); }
  std::vector<JournalEntry> RejectedRequests() const override { return dispatcher_.RejectedRequests(); }
  bool shutdown_requested() const override { return shutdown_requested_.load(); }

 private:
  void StopServers(Duration grace) {
    std::lock_guard lock(stop_mutex_);
    if (server_ != nullptr && !stopped_) server_->Stop(grace);
    if (control_ != nullptr && !stopped_) control_->Stop(Duration{0});
    stopped_ = true;
  }

  const std::uint64_t seed_;
  const TimePoint started_;
  std::atomic<bool> shutdown_requested_{false};
  TenantRegistry registry_;
  Dispatcher dispatcher_;
  std::string address_, control_address_;
  std::mutex stop_mutex_;
  bool stopped_ = false;
  // Last: their threads use all of the above.
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<HttpServer> control_;
};

}  // namespace

Result<std::unique_ptr<Emulator>> Emulator::Start(EmulatorOptions options) {
  if (options.host.empty()) return InvalidArgument("the host to listen on is empty");
  if (options.port < 0 || options.port > kPortMax) {
    return InvalidArgument("port " + std::to_string(options.port) + " is not in 0 to 65535");
  }
  if (options.control_port.has_value() && (*options.control_port < 0 || *options.control_port > kPortMax)) {
    return InvalidArgument("control port " + std::to_string(*options.control_port) + " is not in 0 to 65535");
  }
  const std::shared_ptr<Clock> clock = options.clock != nullptr ? options.clock : RealClock();
  auto emulator = std::make_unique<ListeningEmulator>(options, clock, options.seed != 0 ? options.seed : DrawSeed());
  if (Result<void> listening = emulator->Listen(options, clock); !listening) return std::move(listening).error();
  return std::unique_ptr<Emulator>(std::move(emulator));
}

}  // namespace opensandbox::emulator

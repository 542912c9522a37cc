// The 691 recorded exchanges of the lifecycle server. What does not match must stand in lifecycle_known_differences.txt
// with its reason, and what stands there must not match.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <regex>

#include "emulator/opensandbox/lifecycle_settings.h"
#include "emulator/opensandbox/surfaces.h"
#include "opensandbox/base/rfc3339.h"
#include "tests/conformance/replay.h"

namespace opensandbox::emulator::conformance {
namespace {

using std::chrono::milliseconds;

constexpr char kFolder[] = OPENSANDBOX_SOURCE_DIR "/tests/conformance/";

const std::vector<Recording>& Recordings() {
  static const auto* const kAll =
      new std::vector<Recording>(LoadRecordings(std::string(kFolder) + "recordings/lifecycle.jsonl"));
  return *kAll;
}

const std::map<std::string, std::string>& KnownDifferences() {
  static const auto* const kAll = new std::map<std::string, std::string>(
      LoadKnownDifferences(std::string(kFolder) + "lifecycle_known_differences.txt"));
  return *kAll;
}

// How the real server of a group was set up, told to ours.
struct Setup {
  LifecycleSettings settings;
  std::string api_key = "test-api-key";
  // Entrypoints that end by themselves: the n-th create, from 1, and what becomes of it. Ours run no entrypoints; a
  // scenario says how a sandbox fares.
  std::map<int, int> exit_codes;
};

Setup SetupOf(const std::string& group) {
  Setup setup;
  setup.settings.sandbox_timeout_seconds_max = 86400;
  setup.settings.allowed_host_paths = {"/sandbox-root/allowed"};
  setup.settings.named_volumes = {{"existing-vol", "local"}, {"nfs-vol", "nfs"}};
  if (group == "auth-disabled") setup.api_key.clear();
  if (group == "create-timeout-no-maximum" || group == "endpoints-eip") {
    setup.settings.sandbox_timeout_seconds_max.reset();
  }
  if (group == "endpoints-eip") setup.settings.external_host = "sandbox.example.com";
  if (group == "create-network-policy-no-egress-image") setup.settings.egress_configured = false;
  if (group == "create-host-network") setup.settings.network_mode = "host";
  if (group == "create-missing-network") {
    setup.settings.network_mode = "missing-net";
    setup.settings.network_exists = false;
  }
  if (group == "create-validation-entrypoint") setup.exit_codes = {{1, 127}};
  if (group == "list-state-filter") setup.exit_codes = {{3, 0}, {4, 3}};
  if (group == "state-exited-zero") setup.exit_codes = {{1, 0}};
  if (group == "state-exited-error") setup.exit_codes = {{1, 3}, {2, 137}, {3, 127}};
  if (group == "diagnostics-exited") setup.exit_codes = {{1, 7}};
  return setup;
}

std::shared_ptr<const Scenario> MakeScenario(const Setup& setup) {
  auto scenario = std::make_shared<Scenario>(*DefaultScenario());
  for (const auto& [nth, code] : setup.exit_codes) {
    SandboxRule rule;
    rule.id = "exits-" + std::to_string(nth);
    rule.match.nth = nth;
    Stage running{.state = state::kRunning, .duration = std::chrono::microseconds(1)};
    Stage ended{.state = code == 0 ? state::kTerminated : state::kFailed};
    if (code != 0) ended.message = "Sandbox container exited with code " + std::to_string(code) + ".";
    rule.lifecycle = {{.stage = running}, {.stage = ended}};
    scenario->sandboxes.push_back(std::move(rule));
  }
  return scenario;
}

bool IsToken(const std::string& method) {
  return !method.empty() && method.find_first_of("@ \t\"(),/:;<=>?[\\]{}") == std::string::npos;
}

// One fresh server: a tenant and the steps that the dispatcher takes with a request.
class Server {
 public:
  explicit Server(const std::string& group) : setup_(SetupOf(group)) {
    tenant_.store = std::make_unique<SandboxStore>(SandboxStore::Options{.seed = 7});
    tenant_.journal = std::make_unique<Journal>();
    tenant_.scenario = MakeScenario(setup_);
    tenant_.engine = std::make_unique<ScenarioEngine>(tenant_.scenario, 7);
  }

  Reply Exchange(const Recording& entry, const Request& request) {
    PassTimeTo(entry);
    if (!IsToken(request.method)) return Render(InvalidHttpReply(wall_), now_, wall_);
    const Route route = RouteRequest(request);
    tenant_.store->AdvanceTo(now_);
    const std::string request_id = RequestIdOf(request, tenant_.store->NewHex32());
    if (!setup_.api_key.empty() && NeedsApiKey(request, route)) {
      const std::string key = request.FindHeader("OPEN-SANDBOX-API-KEY").value_or("");
      if (key.empty()) return Render(MissingApiKey(request, request_id, wall_), now_, wall_);
      if (key != setup_.api_key) return Render(InvalidApiKey(request, request_id, wall_), now_, wall_);
    }
    Call call{.request = request,
              .route = route,
              .tenant = tenant_,
              .now = now_,
              .wall_now = wall_,
              .number = ++number_,
              .request_id = request_id,
              .public_address = request.FindHeader("host").value_or(request.local),
              .settings = &setup_.settings};
    if (Sandbox* sandbox = tenant_.store->Find(route.sandbox_id)) {
      call.state_before = sandbox->state;
      call.stage_left = tenant_.store->NoteOperation(*sandbox, route.operation, now_);
    }
    ReplyPlan plan = route.surface == Surface::kLifecycle ? HandleLifecycle(call) : HandleSandboxPort(call);
    return Render(std::move(plan), now_, wall_);
  }

 private:
  // The recorded Date says when the request was made, so that what expires in the recording has expired here too.
  void PassTimeTo(const Recording& entry) {
    WallTime then = wall_ + milliseconds(1);
    for (const Header& header : entry.reply.headers) {
      if (header.name != "date") continue;
      if (const auto date = ParseHttpDate(header.value)) then = std::max(then, *date);
    }
    if (number_ > 0) now_ += then - wall_;
    wall_ = then;
  }

  Setup setup_;
  Tenant tenant_;
  TimePoint now_{std::chrono::seconds(1000)};
  WallTime wall_{};
  std::uint64_t number_ = 0;
};

// The one place where our answers differ by design: the real server publishes ports for each sandbox
// ("127.0.0.1:47050/proxy/44772"), ours all share the listener ("127.0.0.1:8080/sandbox/<id>/proxy/44772").
std::string EndpointAddressRule(std::string text, const Recording& entry) {
  if (entry.target.find("/endpoints/") == std::string::npos) return text;
  static const std::regex kPublished("(\"endpoint\":\"[^\"/:]+):[0-9]+/proxy/");
  static const std::regex kOurs("(\"endpoint\":\"[^\"/:]+)(:[0-9]+)?/sandbox/[-0-9a-f]{36}/proxy/");
  text = std::regex_replace(text, kOurs, "$1:<address>/proxy/");
  return std::regex_replace(text, kPublished, "$1:<address>/proxy/");
}

std::vector<Outcome> Replay(const std::string& group) {
  Server server(group);
  return ReplayGroup(
      Recordings(), group,
      [&server](const Recording& entry, const Request& request) { return server.Exchange(entry, request); },
      EndpointAddressRule);
}

std::string CaseName(const testing::TestParamInfo<std::string>& group) {
  std::string name;
  bool upper = true;
  for (const char c : group.param) {
    if (c == '-') {
      upper = true;
    } else {
      name.push_back(upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
      upper = false;
    }
  }
  return name;
}

class LifecycleRecordingTest : public testing::TestWithParam<std::string> {};

TEST_P(LifecycleRecordingTest, IsAnsweredAlike) {
  const std::vector<Outcome> outcomes = Replay(GetParam());
  ASSERT_FALSE(outcomes.empty());
  for (const Outcome& outcome : outcomes) {
    const auto known = KnownDifferences().find(outcome.id);
    if (known == KnownDifferences().end()) {
      EXPECT_TRUE(outcome.matched) << outcome.id << "\n" << outcome.difference;
    } else {
      EXPECT_FALSE(outcome.matched) << outcome.id << " matches now: take it from lifecycle_known_differences.txt";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, LifecycleRecordingTest, testing::ValuesIn(GroupsOf(Recordings())), CaseName);

TEST(LifecycleRecordingsTest, MostMatchAndTheRestIsListed) {
  std::size_t matched = 0, total = 0, addresses = 0;
  for (const std::string& group : GroupsOf(Recordings())) {
    std::size_t matched_here = 0;
    const std::vector<Outcome> outcomes = Replay(group);
    for (const Outcome& outcome : outcomes) {
      matched_here += outcome.matched ? 1 : 0;
      addresses += outcome.needed_extra_rule ? 1 : 0;
    }
    std::cout << group << ": " << matched_here << " / " << outcomes.size() << "\n";
    matched += matched_here;
    total += outcomes.size();
  }
  std::cout << "lifecycle: " << matched << " / " << total << " matched, " << addresses
            << " of them but for the address of an endpoint\n";
  EXPECT_EQ(total, 691u);
  EXPECT_EQ(matched + KnownDifferences().size(), total);
}

TEST(LifecycleRecordingsTest, EachKnownDifferenceNamesARecording) {
  ASSERT_FALSE(KnownDifferences().empty());
  for (const auto& [id, reason] : KnownDifferences()) {
    const bool exists =
        std::any_of(Recordings().begin(), Recordings().end(), [&id = id](const auto& entry) { return entry.id == id; });
    EXPECT_TRUE(exists) << id;
  }
}

}  // namespace
}  // namespace opensandbox::emulator::conformance

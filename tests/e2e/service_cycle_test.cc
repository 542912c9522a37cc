// A sandbox's life over real sockets, byte by byte, on both kinds of clock.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "tests/e2e/service_support.h"
#include "tests/support/matchers.h"

namespace opensandbox::emulator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct ClockKind {
  const char* name;
  std::shared_ptr<Clock> (*make)();
};
void PrintTo(const ClockKind& kind, std::ostream* out) { *out << kind.name; }

class ServiceCycleTest : public ::testing::TestWithParam<ClockKind> {
 protected:
  std::shared_ptr<Clock> clock_ = GetParam().make();
  Participant participant_{*clock_};

  std::unique_ptr<Emulator> Start(std::shared_ptr<const Scenario> scenario = nullptr) {
    return StartEmulator({.tenants = {{.api_key = "k", .scenario = std::move(scenario)}}, .clock = clock_});
  }
};

TEST_P(ServiceCycleTest, CreateGetRunDelete) {
  const auto emulator = Start();
  ServiceClient client(*clock_, emulator->address(), "k");
  const std::string id = client.Create();
  EXPECT_EQ(client.Send("GET", "/v1/sandboxes/" + id).Json()["status"]["state"], "Running");
  const HttpAnswer run =
      client.Send("POST", client.ExecdPath(id) + "/code", R"j({"code":"print(1)","context":{"language":"python"}})j");
  EXPECT_EQ(run.status, 200);
  EXPECT_TRUE(run.whole);
  EXPECT_THAT(run.body, HasSubstr(R"("type":"init")"));
  EXPECT_THAT(run.body, HasSubstr(R"("type":"execution_complete")"));
  EXPECT_EQ(client.Send("DELETE", "/v1/sandboxes/" + id).status, 204);
  EXPECT_EQ(client.Send("GET", "/v1/sandboxes/" + id).status, 404);

  const Result<Verdict> verdict = emulator->JudgeTenant("default", {});
  ASSERT_THAT(verdict, testing::IsOk());
  EXPECT_EQ(verdict->ledger.created, 1u);
  EXPECT_EQ(verdict->ledger.deleted, 1u);
  EXPECT_TRUE(verdict->leaks.empty());
  EXPECT_EQ(verdict->requests, 6u);
  emulator->Stop(Duration{0});
  const std::shared_ptr<Tenant> tenant = emulator->FindTenant("default");
  EXPECT_EQ(tenant->journal->open_count(), 0u);
}

TEST_P(ServiceCycleTest, OneConnectionServesManyRequests) {
  const auto emulator = Start();
  HttpConnection connection(*clock_, emulator->address());
  for (int i = 0; i < 20; ++i) {
    const HttpAnswer answer = connection.Exchange(HttpRequest("GET", "/v1/sandboxes", "", KeyField("k")));
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.head, HasSubstr("\r\nx-request-id: "));
  }
  const std::shared_ptr<Tenant> tenant = emulator->FindTenant("default");
  std::lock_guard lock(tenant->mutex);
  ASSERT_EQ(tenant->journal->entries().size(), 20u);
  EXPECT_EQ(tenant->journal->entries()[0].connection, tenant->journal->entries()[19].connection);
}

TEST_P(ServiceCycleTest, LostCreateLeaksAndSaysSo) {
  const auto emulator = Start(ServiceScenario(
      R"("faults": [{"id": "lost", "on": "createSandbox", "cut": {"at": "beforeHeaders", "how": "rst"}}])"));
  RawClient raw(*clock_, PortOf(emulator->address()));
  raw.Send(HttpRequest("POST", "/v1/sandboxes", kCreateBody, KeyField("k")));
  const Received received = raw.ReadToEnd();
  EXPECT_EQ(received.bytes, "");
  EXPECT_EQ(received.end, StreamEnd::kRst);
  emulator->Stop(Duration{0});
  const Result<Verdict> verdict = emulator->JudgeTenant("default", {});
  ASSERT_EQ(verdict->leaks.size(), 1u);
  EXPECT_THAT(verdict->leaks[0].sentence, HasSubstr("answer cut before headers (fault lost), never deleted"));
  EXPECT_EQ(verdict->faults_fired, 1u);
}

TEST_P(ServiceCycleTest, FaultyAnswersStopWhenTheFaultClears) {
  const auto emulator = Start(ServiceScenario(R"("faults": [
      {"id": "flaky", "on": "getSandbox", "first": 2, "respond": {"status": 503, "retryAfter": "1s"}}])"));
  ServiceClient client(*clock_, emulator->address(), "k");
  const std::string id = client.Create();
  for (const int status : {503, 503, 200, 200}) {
    EXPECT_EQ(client.Send("GET", "/v1/sandboxes/" + id).status, status);
  }
}

TEST_P(ServiceCycleTest, TornStreamEndsAfterItsEvent) {
  const auto emulator = Start(ServiceScenario(R"(
      "execution": [{"events": [{"stdout": "one"}, {"stdout": "two"}, {"stdout": "three"}]}],
      "faults": [{"id": "torn", "on": "runCode", "nth": 1, "cut": {"atEvent": 3, "how": "fin"}}])"));
  ServiceClient client(*clock_, emulator->address(), "k");
  const std::string id = client.Create();
  {
    HttpConnection torn = client.BeginRun(id, "\"init\"");
    const Received rest = torn.raw().ReadToEnd();  // events 1 to 3: init, ping, "one"
    EXPECT_EQ(rest.end, StreamEnd::kFin);
    EXPECT_THAT(rest.bytes, HasSubstr("one"));
    EXPECT_THAT(rest.bytes, Not(HasSubstr("two")));
    EXPECT_THAT(rest.bytes, Not(HasSubstr("0\r\n\r\n")));
  }
  const HttpAnswer whole =
      client.Send("POST", client.ExecdPath(id) + "/code", R"({"code":"x","context":{"language":"python"}})");
  EXPECT_TRUE(whole.whole);
  EXPECT_THAT(whole.body, HasSubstr("three"));
}

TEST_P(ServiceCycleTest, StreamEndsWhenItsSandboxIsDeleted) {
  const auto emulator =
      Start(ServiceScenario(R"("execution": [{"events": [{"stdout": "begun"}, {"end": "silence"}]}])"));
  ServiceClient client(*clock_, emulator->address(), "k");
  const std::string id = client.Create();
  HttpConnection run = client.BeginRun(id, "begun");
  EXPECT_EQ(client.Send("DELETE", "/v1/sandboxes/" + id).status, 204);
  const Received rest = run.raw().ReadToEnd();
  EXPECT_EQ(rest.end, StreamEnd::kFin);
  EXPECT_THAT(rest.bytes, Not(HasSubstr("execution_complete")));
  EXPECT_THAT(rest.bytes, Not(HasSubstr("0\r\n\r\n")));
}

TEST_P(ServiceCycleTest, StreamEndsWithItsWorld) {
  const auto emulator =
      Start(ServiceScenario(R"("execution": [{"events": [{"stdout": "begun"}, {"end": "silence"}]}])"));
  ASSERT_THAT(emulator->AddTenant({.name = "other", .api_key = "o"}), testing::IsOk());
  ServiceClient client(*clock_, emulator->address(), "k");
  struct Row {
    const char* name;
    std::function<Result<void>()> end;
  };
  const auto scenario = emulator->FindTenant("default")->scenario;
  for (const Row& row :
       std::vector<Row>{{"reset", [&] { return emulator->Reset("default"); }},
                        {"another scenario", [&] { return emulator->LoadScenario("default", scenario); }},
                        {"replacement", [&] { return emulator->AddTenant({.api_key = "k", .scenario = scenario}); }},
                        {"removal", [&] { return emulator->RemoveTenant("default"); }}}) {
    HttpConnection run = client.BeginRun(client.Create(), "begun");
    ASSERT_THAT(row.end(), testing::IsOk()) << row.name;
    const Received rest = run.raw().ReadToEnd();
    EXPECT_EQ(rest.end, StreamEnd::kFin) << row.name;
    EXPECT_THAT(rest.bytes, Not(HasSubstr("0\r\n\r\n"))) << row.name;
    const std::shared_ptr<Tenant> tenant = emulator->FindTenant("default");
    if (tenant == nullptr) continue;
    std::lock_guard lock(tenant->mutex);
    EXPECT_EQ(tenant->journal->total(), 0u) << row.name;
    EXPECT_EQ(tenant->store->created_count(), 0u) << row.name;
  }
}

TEST_P(ServiceCycleTest, StopEndsSilentStreamsAtOnce) {
  constexpr int kStreams = 20;
  const auto emulator =
      Start(ServiceScenario(R"("execution": [{"events": [{"stdout": "begun"}, {"end": "silence"}]}])"));
  ServiceClient client(*clock_, emulator->address(), "k");
  const std::string id = client.Create();
  std::vector<std::unique_ptr<HttpConnection>> runs;
  for (int i = 0; i < kStreams; ++i) {
    const std::string context =
        client.Send("POST", client.ExecdPath(id) + "/code/context", R"({"language":"python"})").Json().value("id", "");
    auto run = std::make_unique<HttpConnection>(*clock_, emulator->address());
    run->Begin(
        HttpRequest("POST", client.ExecdPath(id) + "/code", R"({"code":"x","context":{"id":")" + context + R"("}})"));
    run->raw().ReadUntil("begun");
    runs.push_back(std::move(run));
  }
  emulator->Stop(std::chrono::hours(1));
  for (const auto& run : runs) EXPECT_NE(run->raw().ReadToEnd().end, StreamEnd::kSilence);
  const std::shared_ptr<Tenant> tenant = emulator->FindTenant("default");
  EXPECT_EQ(tenant->journal->open_count(), 0u);
  EXPECT_EQ(tenant->streams.size(), 0u);
  emulator->Stop(Duration{0});  // again is harmless
}

TEST_P(ServiceCycleTest, TenantsInParallelDoNotSeeEachOther) {
  constexpr int kTenants = 16;
  std::vector<TenantOptions> tenants;
  for (int i = 0; i < kTenants; ++i) {
    const std::string name = "t" + std::to_string(i);
    tenants.push_back({.name = name, .api_key = "key-" + name});
  }
  const auto emulator = StartEmulator({.tenants = std::move(tenants), .clock = clock_});
  std::vector<std::string> faults(kTenants);
  std::vector<std::thread> threads;
  for (int i = 0; i < kTenants; ++i) {
    threads.emplace_back([&, i] {
      const Participant participant(*clock_);
      ServiceClient client(*clock_, emulator->address(), "key-t" + std::to_string(i));
      std::string& fault = faults[static_cast<std::size_t>(i)];
      const std::string id = client.Create();
      if (client.Send("GET", "/v1/sandboxes").Json()["items"].size() != 1) fault += "list ";
      if (client.Send("GET", client.ExecdPath(id) + "/ping").status != 200) fault += "ping ";
      if (client.Send("DELETE", "/v1/sandboxes/" + id).status != 204) fault += "delete ";
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kTenants; ++i) {
    EXPECT_EQ(faults[static_cast<std::size_t>(i)], "") << i;
    const std::shared_ptr<Tenant> tenant = emulator->FindTenant("t" + std::to_string(i));
    std::lock_guard lock(tenant->mutex);
    EXPECT_EQ(tenant->journal->total(), 5u);
    EXPECT_EQ(tenant->store->deleted_count(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Clocks, ServiceCycleTest,
                         ::testing::Values(ClockKind{"Real", SharedSystemClock},
                                           ClockKind{"Virtual",
                                                     []() -> std::shared_ptr<Clock> {
                                                       return std::make_shared<VirtualClock>();
                                                     }}),
                         [](const auto& kind) { return kind.param.name; });

TEST(ServiceVirtualTimeTest, SlowBootTakesNoRealTime) {
  const auto clock = std::make_shared<VirtualClock>();
  const Participant participant(*clock);
  const auto emulator = StartEmulator(
      {.tenants =
           {{.scenario = ServiceScenario(
                 R"("sandboxes": [{"lifecycle": [{"state": "Pending", "for": "30s"}, {"state": "Running"}]}])")}},
       .clock = clock});
  ServiceClient client(*clock, emulator->address());
  const std::string id = client.Create();
  const auto state = [&] {
    return client.Send("GET", "/v1/sandboxes/" + id).Json()["status"]["state"].get<std::string>();
  };
  EXPECT_EQ(state(), "Pending");
  clock->SleepFor(std::chrono::seconds(30) - Duration(1));
  EXPECT_EQ(state(), "Pending");
  clock->SleepFor(Duration(1));
  EXPECT_EQ(state(), "Running");
}

TEST(ServiceVirtualTimeTest, StreamEndsWhenItsSandboxExpires) {
  const auto clock = std::make_shared<VirtualClock>();
  const Participant participant(*clock);
  const auto emulator =
      StartEmulator({.tenants = {{.scenario = ServiceScenario(
                                      R"("execution": [{"events": [{"stdout": "begun"}, {"end": "silence"}]}])")}},
                     .clock = clock});
  ServiceClient client(*clock, emulator->address());
  HttpConnection run = client.BeginRun(client.Create(), "begun");
  const Received rest = run.raw().ReadToEnd();
  EXPECT_EQ(rest.end, StreamEnd::kFin);
  EXPECT_EQ(rest.at, TimePoint{} + std::chrono::seconds(60));
  EXPECT_THAT(rest.bytes, Not(HasSubstr("0\r\n\r\n")));
  const Result<Verdict> verdict = emulator->JudgeTenant("default", {});
  EXPECT_EQ(verdict->ledger.expired, 1u);
}

}  // namespace
}  // namespace opensandbox::emulator

// The control API on its own listener, beside an emulator that works, stands still or refuses.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/e2e/service_support.h"

namespace opensandbox::emulator {
namespace {

using ::testing::HasSubstr;

class ServiceControlTest : public ::testing::Test {
 protected:
  void Start(std::shared_ptr<Clock> clock = nullptr, std::shared_ptr<const Scenario> scenario = nullptr) {
    emulator_ = StartEmulator(
        {.control_port = 0, .tenants = {{.scenario = std::move(scenario)}}, .clock = std::move(clock), .seed = 7});
  }
  HttpAnswer Control(const std::string& method, const std::string& target, const std::string& body = "",
                     const std::string& fields = "") {
    return HttpConnection(SystemClock::Instance(), emulator_->control_address())
        .Exchange(HttpRequest(method, target, body, fields));
  }
  ServiceClient Client(const std::string& key = "") {
    return ServiceClient(SystemClock::Instance(), emulator_->address(), key);
  }

  std::unique_ptr<Emulator> emulator_;
};

TEST_F(ServiceControlTest, ProviderAndControlAreSeparate) {
  Start();
  EXPECT_EQ(Client().Send("GET", "/ledger").status, 404);
  EXPECT_EQ(Client().Send("GET", "/tenants").status, 404);
  EXPECT_EQ(Control("GET", "/v1/sandboxes").status, 404);
  EXPECT_EQ(Control("GET", "/tenants").status, 200);
}

TEST_F(ServiceControlTest, ATestMakesATenantUsesItAndJudgesIt) {
  Start();
  EXPECT_EQ(Control("PUT", "/tenants/a", R"({"apiKey":"key-a"})").status, 201);
  const std::string scenario =
      R"({"schemaVersion":1,"name":"flaky",// once
          "faults":[{"id":"once","on":"getSandbox","first":1,"respond":{"status":502}}],
          "expect":{"live":0,"faults":"allConsumed"}})";
  EXPECT_EQ(Control("PUT", "/tenants/a/scenario", scenario).Json()["scenario"]["name"], "flaky");
  EXPECT_EQ(Control("GET", "/tenants/a/verdict").Json()["passed"], false);  // the fault never fired

  ServiceClient client = Client("key-a");
  const std::string id = client.Create();
  EXPECT_EQ(client.Send("GET", "/v1/sandboxes/" + id).status, 502);
  EXPECT_EQ(Control("GET", "/tenants/a/leaks").Json()["count"], 1);
  EXPECT_EQ(Control("GET", "/tenants/a/ledger").Json()["sandboxes"][0]["id"], id);
  EXPECT_EQ(client.Send("DELETE", "/v1/sandboxes/" + id).status, 204);
  const HttpAnswer verdict = Control("GET", "/tenants/a/verdict");
  EXPECT_EQ(verdict.Json()["passed"], true) << verdict.body;
  EXPECT_EQ(verdict.Json()["faultsFired"], 1);

  const HttpAnswer journal = Control("GET", "/tenants/a/journal?after=1");
  EXPECT_THAT(journal.head, HasSubstr("application/x-ndjson"));
  std::istringstream lines(journal.body);
  std::vector<std::string> operations;
  for (std::string line; std::getline(lines, line);) {
    operations.push_back(nlohmann::json::parse(line)["operation"].get<std::string>());
  }
  EXPECT_THAT(operations, ::testing::ElementsAre("getSandbox", "deleteSandbox"));
  EXPECT_EQ(Control("GET", "/ledger").Json()["summary"]["created"], 0);  // the default tenant saw nothing of it
  EXPECT_EQ(Control("DELETE", "/tenants/a").status, 200);
  EXPECT_EQ(Client("key-a").Send("GET", "/v1/sandboxes").status, 200);  // no keys any more: everybody's default tenant
}

TEST_F(ServiceControlTest, RefusedKeysOfNobodyAreListed) {
  Start();
  Control("PUT", "/tenants/a", R"({"apiKey":"key-a"})");
  EXPECT_EQ(Client("wrong").Send("GET", "/v1/sandboxes").status, 401);
  const HttpAnswer rejected = Control("GET", "/rejected");
  EXPECT_EQ(nlohmann::json::parse(rejected.body)["target"], "/v1/sandboxes");
  EXPECT_EQ(rejected.body.find("wrong"), std::string::npos);
}

TEST_F(ServiceControlTest, ForeignHostsAndOriginsAreRefused) {
  Start();
  HttpConnection connection(SystemClock::Instance(), emulator_->control_address());
  EXPECT_EQ(connection.Exchange("GET /tenants HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
  EXPECT_EQ(connection.Exchange("GET /tenants HTTP/1.1\r\nHost: " + emulator_->control_address() + "\r\n\r\n").status,
            200);
  EXPECT_EQ(connection.Exchange("GET /tenants HTTP/1.1\r\nHost: " + emulator_->address() + "\r\n\r\n").status, 403);
  EXPECT_EQ(Control("POST", "/shutdown", "", "Origin: http://127.0.0.1\r\n").status, 403);
  EXPECT_FALSE(emulator_->shutdown_requested());
}

TEST_F(ServiceControlTest, ShutdownIsARequest) {
  Start();
  EXPECT_FALSE(emulator_->shutdown_requested());
  EXPECT_EQ(Control("POST", "/shutdown").status, 202);
  EXPECT_TRUE(emulator_->shutdown_requested());
  EXPECT_EQ(Control("GET", "/health").status, 200);  // whoever runs the emulator ends it
}

TEST_F(ServiceControlTest, VirtualClockMovesByHandForClientsThatDoNotReport) {
  Start();
  Control("PUT", "/tenants/a", R"({"apiKey":"key-a","clock":"virtual","scenario":{
      "schemaVersion":1,"name":"ticks",
      "execution":[{"events":[{"stdout":"tick","repeat":3,"every":"10s"}]}]}})");
  ServiceClient client = Client("key-a");
  HttpConnection run = client.BeginRun(client.Create(), "tick");
  EXPECT_EQ(Control("POST", "/tenants/a/clock/lock").Json()["locked"], true);
  EXPECT_EQ(Control("POST", "/tenants/a/clock/advance", R"({"by":"10s"})").status, 409);
  EXPECT_EQ(Control("POST", "/tenants/a/clock/unlock").Json()["locked"], false);
  const HttpAnswer clock = Control("POST", "/tenants/a/clock/advance", R"({"by":"10s"})");
  EXPECT_EQ(clock.Json()["elapsed"], 10.0) << clock.body;
  run.raw().ReadUntil("tick");
  EXPECT_EQ(Control("POST", "/tenants/a/clock/advance", R"({"by":"10s"})").Json()["elapsed"], 20.0);
  run.raw().ReadUntil("tick");
  run.raw().ReadUntil("execution_complete");
  run.raw().ReadUntil("0\r\n\r\n");
  EXPECT_EQ(Control("GET", "/clock").Json()["mode"], "real");  // the default tenant's
  EXPECT_EQ(Control("POST", "/clock/advance", R"({"by":"10s"})").status, 409);
  EXPECT_EQ(Control("POST", "/tenants/a/clock/advance", R"({"by":"60s"})").status, 200);
  EXPECT_EQ(Control("GET", "/tenants/a/ledger").Json()["summary"]["expired"], 1);
}

TEST_F(ServiceControlTest, AnOpenControlConnectionDoesNotHoldAJumpingClock) {
  const auto clock = std::make_shared<VirtualClock>();
  Start(clock);
  HttpConnection control(SystemClock::Instance(), emulator_->control_address());
  EXPECT_EQ(control.Exchange(HttpRequest("GET", "/clock")).Json()["mode"], "virtual");
  const Participant participant(*clock);
  clock->SleepFor(std::chrono::hours(24));
  EXPECT_EQ(control.Exchange(HttpRequest("GET", "/clock")).Json()["elapsed"], 86400.0);
}

TEST_F(ServiceControlTest, ItAnswersWhileTheProviderIsSilent) {
  Start(nullptr, ServiceScenario(R"("faults": [{"id": "hang", "on": "*", "ending": "silence"}])"));
  RawClient hanging(SystemClock::Instance(), PortOf(emulator_->address()));
  hanging.Send(HttpRequest("POST", "/v1/sandboxes", kCreateBody));
  HttpAnswer ledger;
  do {
    ledger = Control("GET", "/ledger");
  } while (ledger.Json()["summary"]["created"] == 0);  // until the request has come in
  EXPECT_EQ(ledger.Json()["summary"]["live"], 1);
  EXPECT_THAT(Control("GET", "/leaks").Json()["leaks"][0]["sentence"].get<std::string>(), HasSubstr("hang"));
  emulator_->Stop(std::chrono::hours(1));
  EXPECT_NE(hanging.ReadToEnd().end, StreamEnd::kSilence);
}

}  // namespace
}  // namespace opensandbox::emulator

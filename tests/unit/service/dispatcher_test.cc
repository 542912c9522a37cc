#include <gmock/gmock.h>

#include <thread>

#include "tests/unit/service/service_fixture.h"

namespace opensandbox::emulator {
namespace {

using ::testing::ElementsAre;

class DispatcherTest : public ServiceTest {};

TEST_F(DispatcherTest, JournalTellsTheRequestAndItsEnd) {
  AddTenant("a");
  clock_->Advance(seconds(3));
  Request request = CreateRequest("key-a");
  request.connection = 12;
  ReplyPlan plan = dispatcher_.Handle(request).plan;
  std::vector<JournalEntry> entries = JournalOf("a");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].number, 1u);
  EXPECT_EQ(entries[0].connection, 12u);
  EXPECT_EQ(entries[0].operation, operation::kCreateSandbox);
  EXPECT_EQ(entries[0].method, "POST");
  EXPECT_EQ(entries[0].target, "/v1/sandboxes");
  EXPECT_EQ(entries[0].request_body_bytes, request.body.size());
  EXPECT_EQ(entries[0].received, TimePoint{} + seconds(3));
  EXPECT_EQ(entries[0].sandbox_id, nlohmann::json::parse(plan.body)["id"].get<std::string>());
  EXPECT_EQ(entries[0].request_id, plan.Find("x-request-id")->value);
  EXPECT_TRUE(entries[0].committed);
  EXPECT_FALSE(entries[0].end.has_value());
  Finish(plan);
  entries = JournalOf("a");
  ASSERT_TRUE(entries[0].end.has_value());
  EXPECT_EQ(entries[0].end->status, 202);
}

TEST_F(DispatcherTest, RequestIdIsEchoedTrimmedOrMade) {
  AddKeyless();
  ReplyPlan echoed = Send(MakeRequest("GET", "/v1/sandboxes", {.headers = {{"X-REQUEST-ID", "\t Abc 1 "}}}));
  EXPECT_EQ(echoed.Find("x-request-id")->value, "Abc 1");
  ReplyPlan first = Send(MakeRequest("GET", "/v1/sandboxes", {.headers = {{"X-Request-ID", "  "}}}));
  ReplyPlan second = Send(MakeRequest("GET", "/v1/sandboxes"));
  EXPECT_EQ(first.Find("x-request-id")->value.size(), 32u);
  EXPECT_NE(first.Find("x-request-id")->value, second.Find("x-request-id")->value);
}

TEST_F(DispatcherTest, DueTimersHappenBeforeTheRequest) {
  AddKeyless();
  const std::string id = Create("", "python:3.12", 60);
  clock_->Advance(seconds(60) - Duration(1));
  EXPECT_EQ(Send(MakeRequest("GET", "/v1/sandboxes/" + id)).status, 200);
  clock_->Advance(Duration(1));
  EXPECT_EQ(Send(MakeRequest("GET", "/v1/sandboxes/" + id)).status, 404);
}

TEST_F(DispatcherTest, CommittedFaultTakesEffectBehindItsReply) {
  AddKeyless(Parse(R"("faults": [{"id": "lie", "on": "createSandbox", "commit": true, "respond": {"status": 503}}])"));
  EXPECT_EQ(Send(CreateRequest()).status, 503);
  EXPECT_EQ(LiveOf("default"), 1u);
  const std::vector<JournalEntry> entries = JournalOf("default");
  EXPECT_TRUE(entries[0].committed);
  EXPECT_FALSE(entries[0].sandbox_id.empty());
  EXPECT_THAT(entries[0].rules, ElementsAre("lie"));
}

TEST_F(DispatcherTest, UncommittedFaultTakesNoEffect) {
  AddKeyless(Parse(R"("faults": [{"id": "no", "on": "deleteSandbox", "first": 1, "respond": {"status": 500}}])"));
  const std::string id = Create();
  EXPECT_EQ(Send(MakeRequest("DELETE", "/v1/sandboxes/" + id)).status, 500);
  EXPECT_EQ(LiveOf("default"), 1u);
  EXPECT_FALSE(JournalOf("default")[1].committed);
  EXPECT_EQ(Send(MakeRequest("DELETE", "/v1/sandboxes/" + id)).status, 204);
  EXPECT_EQ(LiveOf("default"), 0u);
}

TEST_F(DispatcherTest, UncommittedCutKeepsAWellFramedPlaceHolder) {
  AddKeyless(Parse(R"("faults": [{"id": "cut", "on": "createSandbox", "commit": false,
                                 "cut": {"at": "beforeHeaders", "how": "rst"}}])"));
  ReplyPlan plan = Send(CreateRequest());
  EXPECT_EQ(LiveOf("default"), 0u);
  ASSERT_TRUE(plan.cut.has_value());
  EXPECT_EQ(plan.cut->at, Cut::At::kBeforeHead);
  ASSERT_NE(plan.Find("content-length"), nullptr);
}

TEST_F(DispatcherTest, FaultSeesTheImageInACreateBodyAndInTheStore) {
  AddKeyless(Parse(R"("faults": [
      {"id": "create", "on": "createSandbox", "match": {"image": "bad:*"}, "respond": {"status": 500}},
      {"id": "get", "on": "getSandbox", "match": {"image": "slow:1"}, "respond": {"status": 502}}])"));
  EXPECT_EQ(Send(CreateRequest("", "bad:1")).status, 500);
  const std::string id = Create("", "slow:1");
  EXPECT_EQ(Send(MakeRequest("GET", "/v1/sandboxes/" + id)).status, 502);
  const std::string other = Create("", "fast:1");
  EXPECT_EQ(Send(MakeRequest("GET", "/v1/sandboxes/" + other)).status, 200);
  // A body that names no image does not fit, whatever else is wrong with it.
  for (const char* body : {"{", "[]", "{}", R"({"image":"bad:1"})", R"({"image":{"uri":1}})"}) {
    EXPECT_NE(Send(MakeRequest("POST", "/v1/sandboxes", {.body = body})).status, 500) << body;
  }
  EXPECT_EQ(FiredOf("default", "create"), 1u);
}

TEST_F(DispatcherTest, StageWaitsForItsOperation) {
  AddKeyless(Parse(R"("sandboxes": [{"lifecycle": [
      {"state": "Running", "until": "pauseSandbox"}, {"state": "Pausing", "for": "5s"}, {"state": "Paused"}]}])"));
  const std::string id = Create();
  const auto state = [&] {
    const ReplyPlan plan = Send(MakeRequest("GET", "/v1/sandboxes/" + id));
    return nlohmann::json::parse(plan.body)["status"]["state"].get<std::string>();
  };
  EXPECT_EQ(state(), "Running");
  EXPECT_EQ(Send(MakeRequest("POST", "/v1/sandboxes/" + id + "/pause")).status, 202);
  EXPECT_EQ(state(), "Pausing");
  clock_->Advance(seconds(5));
  EXPECT_EQ(state(), "Paused");
}

TEST_F(DispatcherTest, ExecdRequestReachesItsSandboxsTenantWithoutAKey) {
  AddTenant("a");
  AddTenant("b");
  const std::string id = Create("key-b");
  EXPECT_EQ(Send(MakeRequest("GET", ExecdPath(id, "/ping"))).status, 200);
  EXPECT_EQ(JournalOf("b").size(), 2u);
  EXPECT_EQ(JournalOf("b")[1].operation, operation::kPing);
  EXPECT_TRUE(JournalOf("a").empty());
  EXPECT_EQ(Send(MakeRequest("GET", "/v1/sandboxes/" + id + "/proxy/44772/ping")).status, 200);
  EXPECT_EQ(JournalOf("b").size(), 3u);
}

TEST_F(DispatcherTest, DeadSandboxStillBelongsToItsTenant) {
  AddTenant("a");
  AddTenant("b");
  const std::string id = Create("key-b");
  Send(MakeRequest("DELETE", "/v1/sandboxes/" + id, {.key = "key-b"}));
  Send(MakeRequest("GET", ExecdPath(id, "/ping")));
  ASSERT_EQ(JournalOf("b").size(), 3u);
  EXPECT_EQ(JournalOf("b")[2].operation, operation::kPing);
  EXPECT_TRUE(JournalOf("a").empty());
}

TEST_F(DispatcherTest, UnknownSandboxIsAnsweredByTheFallbackTenant) {
  AddTenant("a");
  AddTenant("b");
  const ReplyPlan proxied = Send(MakeRequest("GET", "/sandboxes/none/proxy/44772/ping"));
  EXPECT_EQ(proxied.status, 404);
  EXPECT_EQ(JournalOf("a").size(), 1u);
  EXPECT_TRUE(JournalOf("b").empty());
  ASSERT_TRUE(registry_.Add({.name = "default", .api_key = "key-default"}));
  Send(MakeRequest("GET", "/sandboxes/none/proxy/44772/ping"));
  EXPECT_EQ(JournalOf("default").size(), 1u);
}

TEST_F(DispatcherTest, EndpointPointsToWhereTheClientCameFrom) {
  AddKeyless();
  const std::string id = Create();
  const auto endpoint = [&](std::string host) {
    Request request = MakeRequest("GET", "/v1/sandboxes/" + id + "/endpoints/44772");
    request.headers[0].value = std::move(host);
    return nlohmann::json::parse(Send(request).body)["endpoint"].get<std::string>();
  };
  EXPECT_EQ(endpoint("sandbox.example:9000"), "sandbox.example:9000/sandbox/" + id + "/proxy/44772");
  EXPECT_EQ(endpoint("[::1]:80"), "[::1]:80/sandbox/" + id + "/proxy/44772");
  for (const char* implausible : {"", "a/b", "user@host", "a b", "a?b"}) {
    EXPECT_EQ(endpoint(implausible), "127.0.0.1:8080/sandbox/" + id + "/proxy/44772") << implausible;
  }
}

TEST_F(DispatcherTest, EndOfAnOlderWorldLeavesTheJournalAlone) {
  AddKeyless();
  ReplyPlan old = dispatcher_.Handle(CreateRequest()).plan;
  ASSERT_TRUE(registry_.Reset("default"));
  ReplyPlan now = dispatcher_.Handle(CreateRequest()).plan;
  Finish(old);
  ASSERT_EQ(JournalOf("default").size(), 1u);
  EXPECT_FALSE(JournalOf("default")[0].end.has_value());
  Finish(now);
  EXPECT_TRUE(JournalOf("default")[0].end.has_value());
}

TEST_F(DispatcherTest, PlanKeepsARemovedTenantAlive) {
  AddTenant("a");
  AddTenant("b");
  const std::string id = Create("key-a");
  Request run = MakeRequest("POST", ExecdPath(id, "/code"), {.body = R"j({"code":"print(1)"})j"});
  ReplyPlan plan = dispatcher_.Handle(run).plan;
  ASSERT_NE(plan.source, nullptr);
  plan.source->BindWaker(clock_->NewWaker());
  std::weak_ptr<Tenant> tenant = TenantOf("a");
  ASSERT_TRUE(registry_.Remove("a"));
  EXPECT_FALSE(tenant.expired());
  const BodyStep step = plan.source->Next(clock_->Now(), clock_->WallNow());
  EXPECT_EQ(step.kind, BodyStep::Kind::kEnd);
  EXPECT_EQ(step.ending, Ending::kNoTerminator);
  Finish(plan);
  plan = {};
  EXPECT_TRUE(tenant.expired());
}

TEST_F(DispatcherTest, EachRequestUsesItsTenantsClock) {
  auto own = std::make_shared<VirtualClock>(VirtualClock::Options{.auto_jump = false});
  own->Advance(seconds(100));
  ASSERT_TRUE(registry_.Add({.name = "a", .api_key = "key-a", .clock = own}));
  AddTenant("b");
  EXPECT_EQ(dispatcher_.Handle(CreateRequest("key-a")).clock, own);
  EXPECT_EQ(dispatcher_.Handle(CreateRequest("key-b")).clock, clock_);
  EXPECT_EQ(JournalOf("a")[0].received, TimePoint{} + seconds(100));
  EXPECT_EQ(JournalOf("b")[0].received, TimePoint{});
}

TEST_F(DispatcherTest, OddRequestsAreAnswered) {
  AddKeyless();
  const std::string id = Create();
  for (const std::string method : {"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "", "BREW", "get"}) {
    for (const std::string& target :
         {std::string("/"), std::string(""), std::string("*"), std::string("//"), std::string("/v1"),
          std::string("/v1/sandboxes/%"), std::string("/v1/sandboxes/%00"), std::string("/v1/sandboxes//pause"),
          std::string("/sandbox//proxy/44772/code"), "/sandbox/" + id + "/proxy/99999999999999999999/x",
          "/sandbox/" + id + "/proxy/44772", "/v1/sandboxes/" + id + "/proxy/44772/%ff%fe", ExecdPath(id, "/code"),
          std::string("/v1/sandboxes?page=%ff"), "/" + std::string(100000, 'a'),
          std::string("/v1/sandboxes/") + std::string(5000, '/')}) {
      for (const std::string& body : {std::string(""), std::string("{"), std::string("\xff\xfe", 2),
                                      std::string(10000, '['), std::string("null")}) {
        const ReplyPlan plan = Send(MakeRequest(method, target, {.body = body}));
        EXPECT_GE(plan.status, 200) << method << " " << target.substr(0, 80);
        EXPECT_LE(plan.status, 599) << method << " " << target.substr(0, 80);
      }
    }
  }
}

TEST_F(DispatcherTest, TwoHundredTenantsInParallelDoNotSeeEachOther) {
  constexpr int kTenants = 200;
  for (int i = 0; i < kTenants; ++i) AddTenant("t" + std::to_string(i));
  std::vector<std::string> faults(kTenants);
  std::vector<std::thread> threads;
  for (int i = 0; i < kTenants; ++i) {
    threads.emplace_back([this, i, &faults] {
      const std::string key = "key-t" + std::to_string(i);
      const int count = 1 + i % 5;
      std::vector<std::string> ids;
      for (int n = 0; n < count; ++n) {
        ReplyPlan plan = dispatcher_.Handle(CreateRequest(key)).plan;
        plan.on_end({.status = plan.status});
        ids.push_back(nlohmann::json::parse(plan.body)["id"].get<std::string>());
      }
      for (const std::string& id : ids) {
        ReplyPlan ping = dispatcher_.Handle(MakeRequest("GET", ExecdPath(id, "/ping"))).plan;
        ping.on_end({.status = ping.status});
        if (ping.status != 200) faults[i] += "ping " + std::to_string(ping.status) + " ";
      }
      ReplyPlan list = dispatcher_.Handle(MakeRequest("GET", "/v1/sandboxes?pageSize=100", {.key = key})).plan;
      list.on_end({.status = list.status});
      const auto items = nlohmann::json::parse(list.body)["items"];
      if (items.size() != ids.size()) faults[i] += "listed " + std::to_string(items.size()) + " ";
      ReplyPlan gone = dispatcher_.Handle(MakeRequest("DELETE", "/v1/sandboxes/" + ids[0], {.key = key})).plan;
      gone.on_end({.status = gone.status});
      if (gone.status != 204) faults[i] += "delete " + std::to_string(gone.status) + " ";
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kTenants; ++i) {
    const std::string name = "t" + std::to_string(i);
    const std::uint64_t count = 1 + static_cast<std::uint64_t>(i) % 5;
    EXPECT_EQ(faults[static_cast<std::size_t>(i)], "") << name;
    EXPECT_EQ(LiveOf(name), count - 1) << name;
    EXPECT_EQ(JournalOf(name).size(), 2 * count + 2) << name;
    for (const JournalEntry& entry : JournalOf(name)) EXPECT_TRUE(entry.end.has_value()) << name;
  }
  EXPECT_EQ(registry_.index().size(), 600u);
}

}  // namespace
}  // namespace opensandbox::emulator

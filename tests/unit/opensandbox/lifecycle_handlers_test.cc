#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "emulator/core/operation.h"
#include "tests/unit/opensandbox/lifecycle_fixture.h"

namespace opensandbox::emulator {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(LifecycleCreateTest, AnswersExactly) {
  LifecycleServer server;
  const ReplyPlan plan = server.Send(
      "POST", "/v1/sandboxes",
      R"({"image":{"uri":"python:3.12"},"entrypoint":["a"],"timeout":60,"resourceLimits":{},"metadata":{"k":"v"},)"
      R"("platform":{"os":"Linux","arch":"amd64"}})");
  EXPECT_EQ(plan.status, 202);
  EXPECT_EQ(plan.body, "{\"id\":\"" + server.sandbox_id() +
                           R"(","status":{"state":"Running","reason":"CONTAINER_RUNNING","message":"Sandbox container )"
                           R"(started successfully.","lastTransitionAt":"2026-11-30T21:53:39Z"},"metadata":{"k":"v"},)"
                           R"("platform":{"os":"linux","arch":"amd64"},"expiresAt":"2026-11-30T21:54:39Z",)"
                           R"("createdAt":"2026-11-30T21:53:39Z","entrypoint":["a"]})");
  std::vector<std::string> names;
  for (const Header& header : plan.headers) names.push_back(header.name);
  EXPECT_THAT(names, ElementsAre("date", "server", "content-length", "content-type", "x-request-id"));
}

TEST(LifecycleCreateTest, TheStoreKnowsWhatWasAsked) {
  LifecycleServer server;
  const std::string id = server.Create(
      R"({"image":{"uri":"python:3.12","auth":{"username":"u","password":"p"}},"entrypoint":["a"],"timeout":60,)"
      R"("resourceLimits":{"cpu":"1"},"env":{"A":"1","B":null},"extensions":{"x":"y"},"networkPolicy":{},)"
      R"("credentialProxy":{"enabled":true}})");
  const Sandbox* sandbox = server.store().FindAny(id);
  ASSERT_NE(sandbox, nullptr);
  EXPECT_EQ(sandbox->created_by, server.number());
  EXPECT_EQ(sandbox->spec.image, "python:3.12");
  EXPECT_EQ(sandbox->spec.timeout, seconds(60));
  EXPECT_THAT(sandbox->spec.env, ElementsAre(std::pair<std::string, std::string>("A", "1")));
  EXPECT_EQ(sandbox->spec.network_policy_json, R"({"egress":[]})");
  EXPECT_TRUE(sandbox->spec.credential_proxy);
  EXPECT_EQ(sandbox->egress_token.size(), 32u);
}

TEST(LifecycleCreateTest, ARefusedCreateMakesNothing) {
  LifecycleServer server;
  EXPECT_EQ(server.Send("POST", "/v1/sandboxes", "{}").status, 422);
  EXPECT_EQ(server.Send("POST", "/v1/sandboxes", "{bad").status, 422);
  EXPECT_EQ(server
                .Send("POST", "/v1/sandboxes",
                      R"({"image":{"uri":"x"},"entrypoint":["a"],"resourceLimits":{},"metadata":{"a b":"c"}})")
                .status,
            400);
  EXPECT_EQ(server.store().created_count(), 0u);
}

TEST(LifecycleCreateTest, TheScenarioSaysHowItBegins) {
  LifecycleServer server(ScenarioWith({{.state = "Pending", .duration = seconds(2)},
                                       {.state = "Failed", .reason = "ImagePullFailed", .message = "no such image"}}));
  const ReplyPlan plan = server.Send("POST", "/v1/sandboxes", kCreateBody);
  EXPECT_THAT(plan.body, HasSubstr(R"("status":{"state":"Pending","reason":"CONTAINER_STARTING","message":"Sandbox )"
                                   R"(container is starting.",)"));
  EXPECT_THAT(server.rules(), ElementsAre("the-rule"));
  const std::string id = server.sandbox_id();
  server.Advance(seconds(2));
  const auto status = server.Get(id)["status"];
  EXPECT_EQ(status["state"], "Failed");
  EXPECT_EQ(status["reason"], "ImagePullFailed");
  EXPECT_EQ(status["message"], "no such image");
  EXPECT_EQ(status["lastTransitionAt"], "2026-11-30T21:53:41Z");
}

TEST(LifecycleCreateTest, TheLiveLimitIsAnAnswerNotACrash) {
  LifecycleServer server(DefaultScenario(), 2);
  server.Create();
  const std::string id = server.Create();
  EXPECT_EQ(CodeOf(server.Send("POST", "/v1/sandboxes", kCreateBody)), "DOCKER::SANDBOX_START_FAILED");
  EXPECT_EQ(server.Send("DELETE", "/v1/sandboxes/" + id).status, 204);
  server.Create();
}

TEST(LifecycleCreateTest, AVolumeMadeByOneCreateIsThereForTheNext) {
  LifecycleServer server;
  const auto body = [](const std::string& more) {
    return R"({"image":{"uri":"x"},"entrypoint":["a"],"resourceLimits":{},"volumes":[{"name":"v","mountPath":"/m",)"
           R"("pvc":{"claimName":"data")" +
           more + "}}]}";
  };
  const std::string must_exist = body(R"(,"createIfNotExists":false)");
  EXPECT_EQ(CodeOf(server.Send("POST", "/v1/sandboxes", must_exist)), "VOLUME::PVC_NOT_FOUND");
  const std::string id = server.Create(body(R"(,"deleteOnSandboxTermination":true)"));
  EXPECT_EQ(server.Send("POST", "/v1/sandboxes", must_exist).status, 202);
  server.Send("DELETE", "/v1/sandboxes/" + id);
  EXPECT_EQ(CodeOf(server.Send("POST", "/v1/sandboxes", must_exist)), "VOLUME::PVC_NOT_FOUND");
}

TEST(LifecycleCreateTest, ALoneSurrogateThatWouldBeShownIsABare500) {
  LifecycleServer server;
  ReplyPlan plan =
      server.Send("POST", "/v1/sandboxes", R"({"image":{"uri":"x"},"entrypoint":["\ud800"],"resourceLimits":{}})");
  EXPECT_EQ(plan.status, 500);
  EXPECT_EQ(plan.body, "Internal Server Error");
  EXPECT_EQ(plan.Find("x-request-id"), nullptr);
  EXPECT_EQ(server.store().created_count(), 0u);
}

TEST(LifecycleCreateTest, ATimeoutOfManyCenturiesIsShownAndNeverFires) {
  LifecycleServer server;
  const std::string id =
      server.Create(R"({"image":{"uri":"x"},"entrypoint":["a"],"timeout":200000000000,"resourceLimits":{}})");
  EXPECT_EQ(server.Get(id)["expiresAt"], "8364-08-30T17:26:59Z");
  server.Advance(hours(24 * 365 * 50));
  EXPECT_EQ(server.StateOf(id), "Running");
}

TEST(LifecycleGetTest, ShowsTheObjectExactly) {
  LifecycleServer server;
  const std::string id = server.Create();
  EXPECT_EQ(server.Send("GET", "/v1/sandboxes/" + id).body,
            "{\"id\":\"" + id +
                R"(","image":{"uri":"python:3.12"},"status":{"state":"Running","reason":"CONTAINER_RUNNING",)"
                R"("message":"Sandbox container is running.","lastTransitionAt":"2026-11-30T21:53:39.000287Z"},)"
                R"("entrypoint":["tail","-f","/dev/null"],"expiresAt":"2026-11-30T21:55:39Z",)"
                R"("createdAt":"2026-11-30T21:53:39.000287Z"})");
}

TEST(LifecycleGetTest, CountsPollsAfterTheAnswer) {
  LifecycleServer server(ScenarioWith({{.state = "Pending", .polls = 2}, {.state = "Running"}}));
  const std::string id = server.Create();
  EXPECT_EQ(server.StateOf(id), "Pending");
  EXPECT_EQ(server.StateOf(id), "Pending");
  EXPECT_EQ(server.StateOf(id), "Running");
}

TEST(LifecycleGetTest, AListIsNoPoll) {
  LifecycleServer server(ScenarioWith({{.state = "Pending", .polls = 1}, {.state = "Running"}}));
  const std::string id = server.Create();
  for (int i = 0; i < 3; ++i) EXPECT_THAT(server.Send("GET", "/sandboxes").body, HasSubstr("Pending"));
  EXPECT_EQ(server.StateOf(id), "Pending");
  EXPECT_EQ(server.StateOf(id), "Running");
}

TEST(LifecycleGetTest, AnUnknownStateIsShownAsItIs) {
  LifecycleServer server(ScenarioWith({{.state = "Teleporting", .reason = "WHY", .message = "so"}}));
  const auto status = server.Get(server.Create())["status"];
  EXPECT_EQ(status["state"], "Teleporting");
  EXPECT_EQ(status["reason"], "WHY");
  EXPECT_EQ(status["message"], "so");
}

TEST(LifecycleGetTest, ExpiryIsExactToTheNanosecond) {
  LifecycleServer server;
  const std::string id = server.Create();
  server.Advance(seconds(120) - Duration(1));
  EXPECT_EQ(server.StateOf(id), "Running");
  server.Advance(Duration(1));
  EXPECT_EQ(CodeOf(server.Send("GET", "/v1/sandboxes/" + id)), "DOCKER::SANDBOX_NOT_FOUND");
}

TEST(LifecycleDeleteTest, WorksInEveryStateAndOnce) {
  for (const std::string& state : state::All()) {
    LifecycleServer server(ScenarioWith({{.state = state}}));
    const std::string id = server.Create();
    const ReplyPlan plan = server.Send("DELETE", "/v1/sandboxes/" + id);
    EXPECT_EQ(plan.status, 204) << state;
    EXPECT_EQ(plan.headers.size(), 3u) << state;
    EXPECT_EQ(server.store().FindAny(id)->end->request, server.number());
    EXPECT_EQ(server.Send("DELETE", "/v1/sandboxes/" + id).status, 404) << state;
  }
}

TEST(LifecyclePauseTest, EveryStateAnswersAsTheTableSays) {
  for (const std::string& state : state::All()) {
    for (const bool pause : {true, false}) {
      LifecycleServer server(ScenarioWith({{.state = state}}));
      const std::string id = server.Create();
      const ReplyPlan plan = server.Send("POST", "/v1/sandboxes/" + id + (pause ? "/pause" : "/resume"));
      const ActionRow& row = LookUp(state, pause ? Action::kPause : Action::kResume);
      const std::string after = server.StateOf(id);
      switch (row.verdict) {
        case ActionVerdict::kAllowed:
          EXPECT_EQ(plan.status, 202) << state;
          EXPECT_EQ(plan.body, "") << state;
          EXPECT_EQ(after, row.next_state) << state;
          break;
        case ActionVerdict::kNotRunning:
          EXPECT_EQ(plan.status, 409) << state;
          EXPECT_EQ(CodeOf(plan), "DOCKER::SANDBOX_NOT_RUNNING") << state;
          EXPECT_EQ(after, state);
          break;
        case ActionVerdict::kNotPaused:
          EXPECT_EQ(plan.status, 409) << state;
          EXPECT_EQ(CodeOf(plan), "DOCKER::SANDBOX_NOT_PAUSED") << state;
          EXPECT_EQ(after, state);
          break;
        case ActionVerdict::kAlreadyPaused:
          EXPECT_EQ(plan.status, 500) << state;
          EXPECT_EQ(CodeOf(plan), "DOCKER::SANDBOX_PAUSE_FAILED") << state;
          EXPECT_THAT(plan.body, HasSubstr("is already paused"));
          EXPECT_EQ(after, state);
          break;
        case ActionVerdict::kUnreachable:
          ADD_FAILURE() << "no verdict for pause or resume";
      }
    }
  }
}

TEST(LifecyclePauseTest, AScriptThatWaitsForThePauseGoesItsOwnWay) {
  LifecycleServer server(ScenarioWith({{.state = "Running", .until = operation::kPauseSandbox},
                                       {.state = "Pausing", .duration = seconds(3)},
                                       {.state = "Paused"}}));
  const std::string id = server.Create();
  EXPECT_EQ(server.Send("POST", "/v1/sandboxes/" + id + "/pause").status, 202);
  EXPECT_EQ(server.StateOf(id), "Pausing");
  server.Advance(seconds(3));
  EXPECT_EQ(server.StateOf(id), "Paused");
}

TEST(LifecyclePauseTest, PauseAndResumeDoNotMoveTheTransitionTime) {
  LifecycleServer server;
  const std::string id = server.Create();
  const auto before = server.Get(id)["status"]["lastTransitionAt"];
  server.Advance(seconds(5));
  server.Send("POST", "/v1/sandboxes/" + id + "/pause");
  EXPECT_EQ(server.Get(id)["status"]["state"], "Paused");
  EXPECT_EQ(server.Get(id)["status"]["lastTransitionAt"], before);
}

std::string Renew(LifecycleServer& server, const std::string& id, const std::string& value) {
  return server.Send("POST", "/v1/sandboxes/" + id + "/renew-expiration", "{\"expiresAt\":" + value + "}").body;
}

TEST(LifecycleRenewTest, MovesTheTimerBothWays) {
  LifecycleServer server;
  const std::string id = server.Create();  // until 21:55:39
  EXPECT_EQ(Renew(server, id, "\"2026-11-30T22:53:39Z\""), R"({"expiresAt":"2026-11-30T22:53:39Z"})");
  server.Advance(seconds(121));
  EXPECT_EQ(server.StateOf(id), "Running");
  EXPECT_EQ(Renew(server, id, "\"2026-11-30T21:55:41Z\""), R"({"expiresAt":"2026-11-30T21:55:41Z"})");
  server.Advance(milliseconds(999));
  EXPECT_EQ(server.StateOf(id), "Running");
  server.Advance(milliseconds(1));
  EXPECT_EQ(server.StateOf(id), "none");
}

TEST(LifecycleRenewTest, OnlyTheFutureCounts) {
  LifecycleServer server;
  const std::string id = server.Create();
  EXPECT_THAT(Renew(server, id, "\"2026-11-30T21:53:38.999999Z\""), HasSubstr("DOCKER::INVALID_EXPIRATION"));
  EXPECT_THAT(Renew(server, id, "\"2026-11-30T21:53:39Z\""), HasSubstr("DOCKER::INVALID_EXPIRATION"));
  EXPECT_THAT(Renew(server, id, "\"2026-11-30T21:53:39.000001Z\""), HasSubstr("expiresAt"));
}

TEST(LifecycleRenewTest, YearsBeyondTheClockAreShownAndNeverFire) {
  LifecycleServer server;
  const std::string id = server.Create();
  EXPECT_EQ(Renew(server, id, "\"9999-12-31T23:59:59Z\""), R"({"expiresAt":"9999-12-31T23:59:59Z"})");
  EXPECT_EQ(server.Get(id)["expiresAt"], "9999-12-31T23:59:59Z");
  server.Advance(hours(24 * 365 * 50));
  EXPECT_EQ(server.StateOf(id), "Running");
  EXPECT_THAT(Renew(server, id, "\"2999-01-01\""), HasSubstr("2999-01-01T00:00:00Z"));
}

TEST(LifecycleListTest, PagesHoldTheirEdges) {
  LifecycleServer server;
  for (int i = 0; i < 3; ++i) server.Create();
  const auto page = [&server](const std::string& query) {
    return nlohmann::json::parse(server.Send("GET", "/v1/sandboxes" + query).body);
  };
  EXPECT_EQ(page("?pageSize=2")["pagination"]["hasNextPage"], true);
  EXPECT_EQ(page("?pageSize=3")["pagination"]["hasNextPage"], false);
  EXPECT_EQ(page("?pageSize=2&page=2")["items"].size(), 1u);
  EXPECT_EQ(page("?pageSize=2&page=3")["items"].size(), 0u);
  EXPECT_EQ(page("?pageSize=200&page=9223372036854775807")["items"].size(), 0u);
  EXPECT_EQ(page("?page=99999999999999999999")["pagination"]["totalPages"], 1);
}

TEST(LifecycleListTest, ShowsNewestFirstAndFiltersByScriptedStates) {
  LifecycleServer server(ScenarioWith({{.state = "Teleporting"}}));
  const std::string first = server.Create();
  const std::string second = server.Create();
  const auto list = nlohmann::json::parse(server.Send("GET", "/sandboxes?state=teleportING").body);
  ASSERT_EQ(list["items"].size(), 2u);
  EXPECT_EQ(list["items"][0]["id"], second);
  EXPECT_EQ(list["items"][1]["id"], first);
  EXPECT_THAT(server.Send("GET", "/sandboxes?state=Running").body, HasSubstr("\"items\":[]"));
}

std::string EndpointOf(LifecycleServer& server, const std::string& id, const std::string& rest) {
  return server.Send("GET", "/v1/sandboxes/" + id + "/endpoints/" + rest).body;
}

TEST(LifecycleEndpointTest, PointsBelowTheListenerAndEndsWithThePort) {
  LifecycleServer server;
  const std::string id = server.Create();
  EXPECT_EQ(EndpointOf(server, id, "44772"), "{\"endpoint\":\"127.0.0.1:8080/sandbox/" + id + "/proxy/44772\"}");
  EXPECT_EQ(EndpointOf(server, id, "00080"), "{\"endpoint\":\"127.0.0.1:8080/sandbox/" + id + "/proxy/80\"}");
  EXPECT_EQ(EndpointOf(server, id, "18080?use_server_proxy=yes"),
            "{\"endpoint\":\"127.0.0.1:8080/sandboxes/" + id + "/proxy/18080\"}");
  server.settings().external_host = "sandbox.example.com";
  EXPECT_EQ(EndpointOf(server, id, "80"), "{\"endpoint\":\"sandbox.example.com:8080/sandbox/" + id + "/proxy/80\"}");
}

TEST(LifecycleEndpointTest, PortsHaveTheirLimits) {
  LifecycleServer server;
  const std::string id = server.Create();
  EXPECT_THAT(EndpointOf(server, id, "0"), HasSubstr("DOCKER::INVALID_PORT"));
  EXPECT_THAT(EndpointOf(server, id, "1"), HasSubstr("endpoint"));
  EXPECT_THAT(EndpointOf(server, id, "65535"), HasSubstr("endpoint"));
  EXPECT_THAT(EndpointOf(server, id, "65536"), HasSubstr("DOCKER::INVALID_PORT"));
  EXPECT_THAT(EndpointOf(server, id, "99999999999999999999"), HasSubstr("DOCKER::INVALID_PORT"));
  EXPECT_THAT(EndpointOf(server, "nope", "0"), HasSubstr("DOCKER::INVALID_PORT"));
  EXPECT_THAT(EndpointOf(server, id, "abc?use_server_proxy=maybe"),
              testing::AllOf(HasSubstr("int_parsing"), HasSubstr("bool_parsing")));
}

TEST(LifecycleEndpointTest, SignedRoutesAreRefusedBeforeEverythingElse) {
  LifecycleServer server;
  EXPECT_THAT(EndpointOf(server, "nope", "0?expires=1"), HasSubstr("SANDBOX::API_NOT_SUPPORTED"));
  EXPECT_THAT(EndpointOf(server, "nope", "0?expires=1&use_server_proxy=1"), HasSubstr("SANDBOX::INVALID_PARAMETER"));
  EXPECT_THAT(EndpointOf(server, "nope", "0?expires=x"), HasSubstr("int_parsing"));
}

TEST(LifecycleEndpointTest, TheEgressTokenComesWithItsPortOnly) {
  LifecycleServer server;
  const std::string id = server.Create(
      R"({"image":{"uri":"x"},"entrypoint":["a"],"resourceLimits":{},"networkPolicy":{"defaultAction":"deny"}})");
  const std::string header = "\"headers\":{\"OPENSANDBOX-EGRESS-AUTH\":\"" + server.store().FindAny(id)->egress_token;
  EXPECT_THAT(EndpointOf(server, id, "18080"), HasSubstr(header));
  EXPECT_THAT(EndpointOf(server, id, "18080?use_server_proxy=true"), HasSubstr(header));
  EXPECT_THAT(EndpointOf(server, id, "44772"), Not(HasSubstr("headers")));
}

TEST(LifecycleEndpointTest, IsNotReadyUntilTheScenarioSaysSo) {
  LifecycleServer server(ScenarioWith({{.state = "Running"}}, {.ready_after = seconds(5)}));
  const std::string id = server.Create();
  server.Advance(seconds(5) - Duration(1));
  const ReplyPlan plan = server.Send("GET", "/v1/sandboxes/" + id + "/endpoints/44772");
  EXPECT_EQ(plan.status, 404);
  EXPECT_EQ(plan.body, R"({"code":"KUBERNETES::POD_IP_NOT_AVAILABLE","message":"Pod IP is not yet available. The Pod )"
                       R"(may still be starting."})");
  server.Advance(Duration(1));
  EXPECT_EQ(server.Send("GET", "/v1/sandboxes/" + id + "/endpoints/44772").status, 200);
}

TEST(LifecycleEndpointTest, CountsLookUpsUntilItIsReady) {
  LifecycleServer server(ScenarioWith({{.state = "Running"}}, {.ready_after_polls = 2}));
  const std::string id = server.Create();
  EXPECT_THAT(EndpointOf(server, id, "44772"), HasSubstr("POD_IP_NOT_AVAILABLE"));
  EXPECT_THAT(EndpointOf(server, id, "44772"), HasSubstr("POD_IP_NOT_AVAILABLE"));
  EXPECT_THAT(EndpointOf(server, id, "44772"), HasSubstr("endpoint"));
}

TEST(LifecycleEndpointTest, MayNeverComeOrComeWithoutTheField) {
  LifecycleServer never(ScenarioWith({{.state = "Running"}}, {.never = true}));
  const std::string id = never.Create();
  never.Advance(seconds(100));
  EXPECT_THAT(EndpointOf(never, id, "44772"), HasSubstr("POD_IP_NOT_AVAILABLE"));
  LifecycleServer without(ScenarioWith({{.state = "Running"}}, {.omit_endpoint = true}));
  EXPECT_EQ(EndpointOf(without, without.Create(), "44772"), "{}");
}

TEST(LifecycleMetadataTest, ADeletedKeyComesBackWithTheNextPatch) {
  LifecycleServer server;
  const std::string id =
      server.Create(R"({"image":{"uri":"x"},"entrypoint":["a"],"resourceLimits":{},"metadata":{"a":"1","b":"2"}})");
  const auto patch = [&](const std::string& body) {
    server.Send("PATCH", "/v1/sandboxes/" + id + "/metadata", body);
    return server.Get(id).value("metadata", nlohmann::ordered_json::object()).dump();
  };
  EXPECT_EQ(patch(R"({"a":null,"b":null})"), "{}");
  EXPECT_EQ(patch(R"({"c":"3"})"), R"({"a":"1","b":"2","c":"3"})");
  EXPECT_EQ(patch(R"({"a":null})"), R"({"b":"2","c":"3"})");
  EXPECT_EQ(patch("{}"), R"({"a":"1","b":"2","c":"3"})");
}

TEST(LifecycleMetadataTest, ARefusedPatchChangesNothing) {
  LifecycleServer server;
  const std::string id = server.Create();
  EXPECT_EQ(server.Send("PATCH", "/v1/sandboxes/" + id + "/metadata", R"({"ok":"1","bad key":"2"})").status, 400);
  EXPECT_FALSE(server.Get(id).contains("metadata"));
}

TEST(LifecycleServerTest, PreflightIsAnsweredOnEveryPathAndKeepsTheOrigin) {
  LifecycleServer server;
  ReplyPlan plan = server.Send(MakeRequest("OPTIONS", "/v1/sandboxes/x/proxy/80/", "",
                                           {{"Origin", "http://a"}, {"Access-Control-Request-Method", "GET"}}));
  EXPECT_EQ(plan.status, 200);
  EXPECT_EQ(plan.Find("access-control-allow-origin")->value, "http://a");
}

TEST(LifecycleServerTest, RedirectsKeepHostAndQueryAndNeverBreakTheHeader) {
  LifecycleServer server;
  ReplyPlan plan = server.Send("GET", "/v1/sandboxes/a%0D%0Ax%C3%A4/?q=%20");
  EXPECT_EQ(plan.status, 307);
  EXPECT_EQ(plan.Find("location")->value, "http://127.0.0.1:8080/v1/sandboxes/a%0D%0Ax%C3%A4?q=%20");
}

TEST(LifecycleServerTest, WhatIsNotHereYetSaysSo) {
  LifecycleServer server;
  const std::string id = server.Create();
  EXPECT_EQ(CodeOf(server.Send("POST", "/v1/sandboxes/" + id + "/snapshots")), "SNAPSHOT::NOT_IMPLEMENTED");
  EXPECT_EQ(CodeOf(server.Send("GET", "/v1/snapshots/s1")), "SNAPSHOT::NOT_FOUND");
  EXPECT_EQ(CodeOf(server.Send("GET", "/v1/sandboxes/" + id + "/diagnostics/logs")), "DIAGNOSTICS_NOT_IMPLEMENTED");
  EXPECT_EQ(CodeOf(server.Send("GET", "/v1/pools")), "KUBERNETES::POOL_NOT_SUPPORTED");
}

}  // namespace
}  // namespace opensandbox::emulator

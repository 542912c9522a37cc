#include "emulator/opensandbox/execd_surface.h"

#include "emulator/opensandbox/egress_surface.h"
#include "emulator/opensandbox/server_proxy.h"
#include "tests/unit/opensandbox/execd_fixture.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kPolicy[] = R"({"defaultAction":"deny","egress":[{"action":"allow","target":"pkg.test"}]})";
constexpr char kDate[] = "Thu, 01 Jan 2026 00:00:00 GMT";
constexpr char kRequestId[] = "0123456789abcdef0123456789abcdef";

using ExecdSurfaceTest = SandboxPortTest;

TEST_F(ExecdSurfaceTest, PingIsEmpty) {
  const ReplyPlan plan = Send("GET", "/ping?x=1");
  EXPECT_EQ(plan.status, 200);
  EXPECT_THAT(plan.headers, ElementsAre(Header{"Date", kDate}, Header{"Content-Length", "0"}));
  EXPECT_EQ(plan.body, "");
  EXPECT_EQ(sandbox_id_, sandbox_->id);
}

TEST_F(ExecdSurfaceTest, UnknownPathsAndWrongMethodsAre404InPlainText) {
  const std::pair<const char*, const char*> rows[] = {{"GET", "/"},
                                                      {"GET", "/nope"},
                                                      {"POST", "/ping"},
                                                      {"GET", "/PING"},
                                                      {"GET", "//ping"},
                                                      {"OPTIONS", "/code"},
                                                      {"GET", "/code"},
                                                      {"PUT", "/code"},
                                                      {"GET", "/code/context"},
                                                      {"GET", "/code/"},
                                                      {"GET", "/proxy"},
                                                      {"GET", "/ping//"},
                                                      {"GET", "/code/contexts/a/b"},
                                                      {"PATCH", "/files/info"}};
  for (const auto& [method, path] : rows) {
    const ReplyPlan plan = Send(method, path);
    EXPECT_EQ(plan.status, 404) << method << " " << path;
    EXPECT_EQ(plan.body, "404 page not found");
    EXPECT_THAT(plan.headers, ElementsAre(Header{"Content-Type", "text/plain"}, Header{"Date", kDate},
                                          Header{"Content-Length", "18"}));
  }
}

TEST_F(ExecdSurfaceTest, HeadIsAnsweredWithoutABody) {
  ReplyPlan plan = Send("HEAD", "/ping");
  EXPECT_EQ(plan.status, 404);
  EXPECT_EQ(plan.Find("Content-Length")->value, "18");
  EXPECT_EQ(plan.body, "");
}

TEST_F(ExecdSurfaceTest, ATrailingSlashIsRedirected) {
  ReplyPlan get = Send("GET", "/ping/");
  EXPECT_EQ(get.status, 301);
  EXPECT_EQ(get.body, "<a href=\"/ping\">Moved Permanently</a>.\n\n");
  EXPECT_THAT(get.headers, ElementsAre(Header{"Content-Type", "text/html; charset=utf-8"}, Header{"Location", "/ping"},
                                       Header{"Date", kDate}, Header{"Content-Length", "40"}));
  ReplyPlan post = Send("POST", "/code/?a=1&b=2", "{}");
  EXPECT_EQ(post.status, 307);
  EXPECT_THAT(post.headers,
              ElementsAre(Header{"Location", "/code?a=1&b=2"}, Header{"Date", kDate}, Header{"Content-Length", "0"}));
  EXPECT_EQ(Send("DELETE", "/code/").status, 307);
}

TEST_F(ExecdSurfaceTest, WhatIsNotEmulatedSaysSo) {
  int missing = 0;
  for (const ExecdRoute& route : ExecdRoutes()) {
    std::string path(route.path);
    if (const std::size_t at = path.find("{}"); at != std::string::npos) path.replace(at, 2, "some-id");
    const ReplyPlan plan = Send(std::string(route.method), path);
    EXPECT_EQ(plan.status == 501, !route.emulated) << route.method << " " << path;
    EXPECT_NE(plan.body, "404 page not found");
    if (route.emulated) continue;
    ++missing;
    EXPECT_THAT(plan.body, StartsWith(R"({"code":"NOT_SUPPORTED","message":")"));
    EXPECT_THAT(plan.body, HasSubstr("is not emulated yet"));
  }
  EXPECT_EQ(missing, 23);
}

TEST_F(ExecdSurfaceTest, ConnectionCloseIsEchoed) {
  EXPECT_THAT(Send("GET", "/ping", "", {{"Connection", "close"}}).headers,
              ElementsAre(Header{"Date", kDate}, Header{"Content-Length", "0"}, Header{"Connection", "close"}));
  ReplyPlan stream = Send("POST", "/code", R"({"code":"x"})", {{"connection", "Close"}});
  EXPECT_THAT(Names(stream.headers), ElementsAre("Cache-Control", "Content-Type", "X-Accel-Buffering", "Date",
                                                 "Transfer-Encoding", "Connection"));
}

// --- execd's reverse proxy ------------------------------------------------------------------------------------------

TEST_F(ExecdSurfaceTest, ExecdProxiesToItselfWithSortedHeaders) {
  for (const std::string path : {"/proxy/44772/ping", "/proxy/44772/proxy/44772/ping"}) {
    const ReplyPlan plan = Send("GET", path);
    EXPECT_EQ(plan.status, 200);
    EXPECT_THAT(Names(plan.headers), ElementsAre("Content-Length", "Date"));
  }
  const ReplyPlan stream = Send("POST", "/proxy/44772/code", R"({"code":"x"})");
  EXPECT_THAT(Names(stream.headers),
              ElementsAre("Cache-Control", "Content-Type", "Date", "X-Accel-Buffering", "Transfer-Encoding"));
}

TEST_F(ExecdSurfaceTest, APortWhereNothingListensIsABadGateway) {
  for (const std::string path :
       {"/proxy/1/x", "/proxy/abc/x", "/proxy/0/x", "/proxy/70000/x", "/proxy/18080/policy", "/proxy/8080"}) {
    const ReplyPlan plan = Send("GET", path);
    EXPECT_EQ(plan.status, 502) << path;
    EXPECT_EQ(plan.body, "Bad Gateway\n");
    EXPECT_THAT(Names(plan.headers), ElementsAre("Content-Type", "X-Content-Type-Options", "Date", "Content-Length"));
  }
  const ReplyPlan no_port = Send("GET", "/proxy/");
  EXPECT_EQ(no_port.status, 400);
  EXPECT_EQ(no_port.body, "port is required\n");
}

TEST_F(ExecdSurfaceTest, AVeryLongChainOfProxiesIsALoopAndNotARecursion) {
  std::string path;
  for (int i = 0; i < 200000; ++i) path += "/proxy/44772";
  EXPECT_EQ(Send("GET", path + "/ping").status, 200);
  EXPECT_EQ(Send("GET", "/" + std::string(2000000, 'a')).status, 404);
  EXPECT_EQ(Send("GET", std::string(2000000, '/')).status, 404);
}

// --- the endpoint of a sandbox --------------------------------------------------------------------------------------

TEST_F(ExecdSurfaceTest, AnEndpointWithoutARunningSandboxBehindItIsReset) {
  const auto is_reset = [](const ReplyPlan& plan) {
    return plan.cut.has_value() && plan.cut->at == Cut::At::kBeforeHead && plan.cut->ending == Ending::kRst;
  };
  EXPECT_TRUE(is_reset(SendTo("/sandbox/nope/proxy/44772/ping", "GET")));
  for (const std::string& name : state::All()) {
    sandbox_ = &Create("", {}, {{.state = name}});
    EXPECT_EQ(is_reset(Send("GET", "/ping")), name != "Running") << name;
  }
  sandbox_ = &Create("", 60s);
  EXPECT_EQ(Send("GET", "/ping").status, 200);
  now_ += 60s;
  EXPECT_TRUE(is_reset(Send("GET", "/ping")));
}

TEST_F(ExecdSurfaceTest, OtherPortsOfTheEndpointAreBadGateways) {
  for (const std::string port : {"8080", "18080", "1", "0", "70000"}) {
    EXPECT_EQ(SendTo(Endpoint(port) + "/policy", "GET").status, 502) << port;
  }
}

// --- egress ---------------------------------------------------------------------------------------------------------

class EgressSurfaceTest : public SandboxPortTest {
 protected:
  EgressSurfaceTest() { sandbox_ = &Create(kPolicy); }
  ReplyPlan Ask(const std::string& method, const std::string& path, std::optional<std::string> token = {}) {
    return SendTo(Endpoint("18080") + path, method, "",
                  {{"opensandbox-egress-auth", token.value_or(sandbox_->egress_token)}});
  }
};

TEST_F(EgressSurfaceTest, PolicyNeedsTheToken) {
  for (const ReplyPlan& plan : {SendTo(Endpoint("18080") + "/policy", "GET"), Ask("GET", "/policy", "bad"),
                                Ask("GET", "/policy", ""), Ask("OPTIONS", "/policy", "bad")}) {
    EXPECT_EQ(plan.status, 401);
    EXPECT_EQ(plan.body, "unauthorized\n");
    // Through execd's proxy, as the endpoint stands for it: sorted.
    EXPECT_THAT(plan.headers,
                ElementsAre(Header{"Content-Length", "13"}, Header{"Content-Type", "text/plain; charset=utf-8"},
                            Header{"Date", kDate}, Header{"X-Content-Type-Options", "nosniff"}));
  }
}

TEST_F(EgressSurfaceTest, PolicyIsTheOneOfTheCreate) {
  const ReplyPlan plan = Ask("GET", "/policy");
  EXPECT_EQ(plan.status, 200);
  EXPECT_EQ(plan.body,
            "{\"status\":\"ok\",\"mode\":\"enforcing\",\"enforcementMode\":\"dns\",\"policy\":{\"egress\":[{\"action\":"
            "\"allow\",\"target\":\"pkg.test\"}],\"defaultAction\":\"deny\"}}\n");
  EXPECT_THAT(plan.headers, ElementsAre(Header{"Content-Length", "143"}, Header{"Content-Type", "application/json"},
                                        Header{"Date", kDate}));
}

TEST_F(EgressSurfaceTest, PolicyBodiesFollowTheRecordings) {
  const std::pair<std::string, std::string> rows[] = {
      {"{}", R"("mode":"deny_all","enforcementMode":"dns","policy":{"egress":null,"defaultAction":"deny"}})"},
      {R"({"defaultAction":"deny","egress":[]})",
       R"("mode":"deny_all","enforcementMode":"dns","policy":{"egress":[],"defaultAction":"deny"}})"},
      {R"({"defaultAction":"allow"})",
       R"("mode":"allow_all","enforcementMode":"dns","policy":{"egress":null,"defaultAction":"allow"}})"},
      {R"({"defaultAction":"allow","egress":[{"action":"deny","target":"a.com"}]})",
       R"("mode":"enforcing","enforcementMode":"dns","policy":{"egress":[{"action":"deny","target":"a.com"}],"defaultAction":"allow"}})"},
      {R"({"defaultAction":"bogus"})",
       R"("mode":"enforcing","enforcementMode":"dns","policy":{"egress":null,"defaultAction":"bogus"}})"},
      {R"({"defaultAction":"DENY","egress":[{"action":"ALLOW","target":" C.com "}]})",
       R"("mode":"enforcing","enforcementMode":"dns","policy":{"egress":[{"action":"allow","target":"C.com"}],"defaultAction":"deny"}})"},
  };
  for (const auto& [policy, expected] : rows) {
    EXPECT_EQ(EgressPolicyJson(policy), "{\"status\":\"ok\"," + expected + "\n");
  }
}

TEST_F(EgressSurfaceTest, OtherPathsAndMethods) {
  const ReplyPlan health = Ask("POST", "/healthz", "bad");
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(health.body, "ok");
  ReplyPlan options = Ask("OPTIONS", "/policy");
  EXPECT_EQ(options.status, 405);
  EXPECT_EQ(options.Find("Allow")->value, "GET, POST, PUT, PATCH, DELETE");
  EXPECT_EQ(options.body, "method not allowed\n");
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) EXPECT_EQ(Ask(method, "/policy").status, 501);
  EXPECT_EQ(Ask("GET", "/credential-vault").status, 501);
  EXPECT_EQ(Ask("GET", "/credential-vault/credentials").status, 501);
  for (const char* path : {"/policy/", "/nope", "/", "/healthz/", "/credential-vaults"}) {
    const ReplyPlan plan = Ask("GET", path);
    EXPECT_EQ(plan.status, 404) << path;
    EXPECT_EQ(plan.body, "404 page not found\n");
  }
}

// --- the server's proxy ---------------------------------------------------------------------------------------------

class ServerProxyTest : public SandboxPortTest {
 protected:
  ReplyPlan Ask(const std::string& path, const std::string& method = "GET", const std::string& body = "",
                std::vector<Header> headers = {}, const std::string& port = "44772") {
    return SendTo(ServerProxy(port) + path, method, body, std::move(headers));
  }
};

TEST_F(ServerProxyTest, WrapsTheAnswerInTheServersHeaders) {
  EXPECT_THAT(Ask("/ping").headers,
              ElementsAre(Header{"date", kDate}, Header{"server", "uvicorn"}, Header{"date", kDate},
                          Header{"content-length", "0"}, Header{"x-request-id", kRequestId}));
  const ReplyPlan error = Ask("/code", "POST", "{}");
  EXPECT_EQ(error.status, 400);
  EXPECT_THAT(Names(error.headers),
              ElementsAre("date", "server", "content-type", "date", "content-length", "x-request-id"));
}

TEST_F(ServerProxyTest, AStreamStaysChunked) {
  Script({Stdout("hi")});
  ReplyPlan plan = Ask("/code", "POST", R"({"code":"x","context":{"language":"python"}})");
  EXPECT_TRUE(plan.chunked);
  EXPECT_THAT(
      plan.headers,
      ElementsAre(Header{"date", kDate}, Header{"server", "uvicorn"}, Header{"cache-control", "no-cache"},
                  Header{"content-type", "text/event-stream"}, Header{"x-accel-buffering", "no"}, Header{"date", kDate},
                  Header{"x-request-id", kRequestId}, Header{"transfer-encoding", "chunked"}));
  EXPECT_THAT(Events(Read(plan)), ElementsAre(StartsWith("init"), "ping pong", "stdout hi", "execution_complete"));
}

TEST_F(ServerProxyTest, DropsLeadingSlashesAndDecodesThePathOnce) {
  EXPECT_EQ(Ask("//ping").status, 200);
  EXPECT_EQ(Ask("/code%2Fcontexts").body, "[]");
  EXPECT_EQ(Ask("").body, "404 page not found");
  ReplyPlan redirect = Ask("/ping/");
  EXPECT_EQ(redirect.status, 301);
  EXPECT_EQ(redirect.Find("location")->value, "/ping");
}

TEST_F(ServerProxyTest, ItsOwnErrorsAreTheServersJson) {
  struct Row {
    std::string target;
    int status;
    std::string body;
  };
  const std::string connect = R"({"code":"GENERAL::UNKNOWN_ERROR","message":"Could not connect to the backend sandbox )"
                              R"(endpoint='172.17.0.2:1' headers=None: All connection attempts failed"})";
  const std::string port = R"({"code":"DOCKER::INVALID_PORT","message":"Port must be between 1 and 65535."})";
  const std::vector<Row> rows = {
      {ServerProxy("1") + "/x", 502, connect},
      {ServerProxy("0") + "/x", 400, port},
      {ServerProxy("65536") + "/x", 400, port},
      {"/sandboxes/nope/proxy/8000/x", 404,
       R"({"code":"DOCKER::SANDBOX_NOT_FOUND","message":"Sandbox nope not found."})"},
      {"/sandboxes/nope/proxy/0/x", 400, port},
  };
  for (const Row& row : rows) {
    const ReplyPlan plan = SendTo(row.target, "GET");
    EXPECT_EQ(plan.status, row.status) << row.target;
    EXPECT_EQ(plan.body, row.body);
    EXPECT_THAT(Names(plan.headers), ElementsAre("date", "server", "content-length", "content-type", "x-request-id"));
  }
  EXPECT_EQ(SendTo(ServerProxy("044772") + "/ping", "GET").status, 200);
  EXPECT_EQ(SendTo(ServerProxy("65535") + "/ping", "GET").status, 502);
}

TEST_F(ServerProxyTest, ASandboxThatDoesNotRunHasNoAddressOrNoListener) {
  for (const std::string& name : state::All()) {
    sandbox_ = &Create("", {}, {{.state = name}});
    const ReplyPlan plan = Ask("/ping");
    const bool address = name != "Pending" && name != "Terminated" && name != "Failed";
    EXPECT_EQ(plan.status, name == "Running" ? 200 : address ? 502 : 500) << name;
    if (!address) {
      EXPECT_EQ(plan.body, R"({"code":"DOCKER::NETWORK_MODE_ENDPOINT_UNAVAILABLE","message":"Container is running but )"
                           R"(has no assigned IP address."})");
    }
  }
}

TEST_F(ServerProxyTest, WithASidecarTheWayGoesThroughExecd) {
  sandbox_ = &Create(kPolicy);
  const ReplyPlan refused = Ask("/x", "GET", "", {}, "1");
  EXPECT_EQ(refused.status, 502);
  EXPECT_EQ(refused.body, "Bad Gateway\n");
  EXPECT_THAT(Names(refused.headers), ElementsAre("date", "server", "content-type", "x-content-type-options", "date",
                                                  "content-length", "x-request-id"));
  EXPECT_THAT(Names(Ask("/ping").headers), ElementsAre("date", "server", "content-length", "date", "x-request-id"));
  const ReplyPlan denied = Ask("/policy", "GET", "", {}, "18080");
  EXPECT_EQ(denied.status, 401);
  EXPECT_THAT(Names(denied.headers), ElementsAre("date", "server", "content-length", "content-type", "date",
                                                 "x-content-type-options", "x-request-id"));
  const ReplyPlan policy = Ask("/policy", "GET", "", {{"OPENSANDBOX-EGRESS-AUTH", sandbox_->egress_token}}, "18080");
  EXPECT_EQ(policy.status, 200);
  EXPECT_THAT(policy.body, HasSubstr("pkg.test"));
}

TEST_F(ServerProxyTest, UpgradesAreRefused) {
  const ReplyPlan plain = Ask("/u", "GET", "", {{"Upgrade", "websocket"}});
  EXPECT_EQ(plain.status, 400);
  EXPECT_EQ(plain.body, R"({"code":"GENERAL::UNKNOWN_ERROR","message":"Websocket upgrade is not supported yet"})");
  EXPECT_EQ(Ask("/u", "GET", "", {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}}).status, 501);
}

TEST_F(ServerProxyTest, AnOriginGetsTheCorsHeaders) {
  EXPECT_THAT(Names(Ask("/ping", "GET", "", {{"Origin", "http://a"}}).headers),
              ElementsAre("date", "server", "date", "content-length", "access-control-allow-origin",
                          "access-control-allow-credentials", "vary", "x-request-id"));
}

TEST_F(ServerProxyTest, AScriptedStageThatThisRequestEndsStillCountsForIt) {
  // What the dispatcher tells: the stage was Running when the request came, and it ended the stage.
  sandbox_ = &Create("", {}, {{.state = "Running", .until = "runCode"}, {.state = "Failed"}});
  tenant_.store->NoteOperation(*sandbox_, "runCode", now_);
  ASSERT_EQ(sandbox_->state, "Failed");
  Request request;
  request.method = "POST";
  request.target = request.path = Endpoint() + "/code";
  request.body = R"({"code":"x"})";
  const Route route = RouteRequest(request);
  Call call{.request = request, .route = route, .tenant = tenant_, .now = now_, .wall_now = WallNow()};
  call.stage_left = true;
  call.state_before = "Running";
  ReplyPlan plan = HandleSandboxPort(call);
  ASSERT_NE(plan.source, nullptr);
  const Body body = Read(plan);
  EXPECT_EQ(body.ending, Ending::kNoTerminator);
  EXPECT_THAT(body.chunks, IsEmpty());
}

}  // namespace
}  // namespace opensandbox::emulator

#include <gmock/gmock.h>

#include "tests/unit/control/control_fixture.h"

namespace opensandbox::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ControlGuardTest : public ControlTest {
 protected:
  void SetUp() override { AddTenant({}); }
  int StatusFor(std::vector<Header> headers) {
    Request request = MakeRequest("GET", "/health");
    request.headers = std::move(headers);
    return Send(request).status;
  }
};

TEST_F(ControlGuardTest, HostMustBeLoopbackWithThisPortOrNone) {
  for (const char* host : {"127.0.0.1:9090", "127.8.9.10", "localhost:9090", "LOCALHOST", "[::1]:9090"}) {
    EXPECT_EQ(StatusFor({{"Host", host}}), 200) << host;
  }
  for (const char* host : {"evil.example", "evil.example:9090", "localhost.evil.example:9090", "127.0.0.1:9091", "",
                           "127.0.0.1.nip.io:9090", "0.0.0.0:9090", "192.168.0.1:9090"}) {
    EXPECT_EQ(StatusFor({{"Host", host}}), 403) << host;
  }
  EXPECT_EQ(StatusFor({}), 403);
  EXPECT_EQ(StatusFor({{"Host", "127.0.0.1:9090"}, {"hOST", "evil.example"}}), 403);
  EXPECT_EQ(StatusFor({{"Host", "127.0.0.1:9090"}, {"Host", "127.0.0.1:9090"}}), 403);
}

TEST_F(ControlGuardTest, AnyOriginIsRefused) {
  for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:9090", ""}) {
    EXPECT_EQ(StatusFor({{"Host", "127.0.0.1:9090"}, {"oRIGIN", origin}}), 403) << origin;
  }
}

TEST_F(ControlGuardTest, RefusedRequestDoesNothing) {
  Request request = MakeRequest("POST", "/shutdown");
  request.headers.push_back({"Origin", "http://evil.example"});
  const Answer answer = Send(request);
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.error(), HasSubstr("Origin"));
  EXPECT_FALSE(emulator_.shutdown);
  EXPECT_EQ(Send("POST", "/shutdown").status, 202);
  EXPECT_TRUE(emulator_.shutdown);
}

TEST_F(ControlGuardTest, UnknownRouteListsTheRoutes) {
  for (const char* target : {"/nope", "/tenants/", "/tenants/default/nope", "/tenants/default/tenants", "/ledger/",
                             "/tenants/default/ledger/x", "//", "/tenants//ledger", "/tenants/default/health"}) {
    const Answer answer = Send("GET", target);
    EXPECT_EQ(answer.status, 404) << target;
    ASSERT_TRUE(answer.json["routes"].is_array()) << target;
    EXPECT_GT(answer.json["routes"].size(), 15u) << target;
  }
}

TEST_F(ControlGuardTest, WrongMethodNamesTheRightOnes) {
  const auto allow = [&](const char* method, const char* target) {
    const Answer answer = Send(method, target);
    EXPECT_EQ(answer.status, 405) << target;
    return answer.Head("allow");
  };
  EXPECT_EQ(allow("POST", "/ledger"), "GET");
  EXPECT_EQ(allow("POST", "/tenants/default"), "GET, PUT, DELETE");
  EXPECT_EQ(allow("GET", "/tenants/default/scenario"), "PUT, DELETE");
  EXPECT_EQ(allow("GET", "/clock/lock"), "POST");
  EXPECT_EQ(allow("BREW", "/"), "GET");
}

TEST_F(ControlGuardTest, UnknownTenantIs404) {
  for (const char* target : {"/tenants/none", "/tenants/none/ledger", "/tenants/none/clock"}) {
    const Answer answer = Send("GET", target);
    EXPECT_EQ(answer.status, 404) << target;
    EXPECT_THAT(answer.error(), HasSubstr("no tenant 'none'"));
  }
  EXPECT_EQ(Send("DELETE", "/tenants/none").status, 404);
  EXPECT_EQ(Send("PUT", "/tenants/none/scenario", "{}").status, 404);
}

TEST_F(ControlGuardTest, IndexTellsEveryRoute) {
  const Answer answer = Send("GET", "/");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.json["emulator"], "127.0.0.1:8080");
  EXPECT_EQ(answer.json["seed"], 7);
  std::vector<std::string> gets;
  for (const auto& route : answer.json["routes"]) {
    // Each listed route exists: it is not answered with the list again.
    std::string path = route["path"];
    if (const auto place = path.find("{name}"); place != std::string::npos) path.replace(place, 6, "default");
    EXPECT_NE(Send("BREW", path).status, 404) << path;
    if (route.contains("short")) {
      EXPECT_NE(Send("BREW", route["short"].get<std::string>()).status, 404) << route;
    }
  }
}

TEST_F(ControlGuardTest, OddPathsAreAnswered) {
  for (const std::string& target :
       {std::string(""), std::string("*"), std::string("/tenants/%"), std::string("/tenants/%00"),
        std::string("/tenants/%ff%fe/ledger"), std::string("/%2e%2e"), "/" + std::string(100000, 'a'),
        "/tenants/" + std::string(100000, 'a') + "/ledger", "/tenants/" + std::string(100000, '/')}) {
    EXPECT_EQ(Send("GET", target).status, 404) << target.substr(0, 60);
  }
}

}  // namespace
}  // namespace opensandbox::emulator

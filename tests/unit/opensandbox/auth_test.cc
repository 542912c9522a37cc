#include <gtest/gtest.h>

#include <string>

#include "emulator/opensandbox/surfaces.h"
#include "tests/unit/opensandbox/lifecycle_fixture.h"

namespace opensandbox::emulator {
namespace {

bool Needs(const std::string& method, const std::string& target, std::vector<Header> headers = {}) {
  const Request request = MakeRequest(method, target, "", std::move(headers));
  return NeedsApiKey(request, RouteRequest(request));
}

TEST(AuthTest, EveryPathNeedsAKeyUnlessItIsExempt) {
  for (const char* target : {"/v1/sandboxes", "/sandboxes/x", "/v1/nope", "/", "/v1/health", "/v1/sandboxes/",
                             "/v1/pools", "/sandbox/x", "/v2/sandboxes/x/proxy/80/"}) {
    EXPECT_TRUE(Needs("GET", target)) << target;
  }
  for (const char* target : {"/health", "/healthxyz", "/health/x", "/docs", "/docsxyz", "/redoc", "/openapi.json"}) {
    EXPECT_FALSE(Needs("GET", target)) << target;
  }
}

TEST(AuthTest, TheServerProxyIsExemptForPlainPortsOnly) {
  for (const char* target :
       {"/v1/sandboxes/x/proxy/80", "/sandboxes/x/proxy/80/", "/v1/sandboxes/x/proxy/44772/code"}) {
    EXPECT_FALSE(Needs("GET", target)) << target;
    EXPECT_FALSE(Needs("OPTIONS", target)) << target;
  }
  for (const char* target :
       {"/v1/sandboxes/x/proxy/abc/", "/v1/sandboxes/x/proxy/80x/", "/v1/sandboxes/x/proxy/80/../y",
        "/v1/sandboxes/x/proxy/80/%2e%2e/y", "/v1/sandboxes/x/proxy/+80/"}) {
    EXPECT_TRUE(Needs("GET", target)) << target;
  }
}

TEST(AuthTest, EndpointsInsideASandboxNeedNoKey) {
  EXPECT_FALSE(Needs("POST", "/sandbox/x/proxy/44772/code"));
  EXPECT_FALSE(Needs("GET", "/sandbox/x/proxy/18080/policy"));
  EXPECT_FALSE(Needs("GET", "/sandbox/x/proxy/8080/../y"));
}

TEST(AuthTest, OnlyAWholePreflightIsExempt) {
  EXPECT_FALSE(Needs("OPTIONS", "/v1/sandboxes", {{"Origin", "http://a"}, {"Access-Control-Request-Method", "GET"}}));
  EXPECT_TRUE(Needs("OPTIONS", "/v1/sandboxes", {{"Origin", "http://a"}}));
  EXPECT_TRUE(Needs("OPTIONS", "/v1/sandboxes", {{"Access-Control-Request-Method", "GET"}}));
  EXPECT_TRUE(Needs("GET", "/v1/sandboxes", {{"Origin", "http://a"}, {"Access-Control-Request-Method", "GET"}}));
}

TEST(AuthTest, RefusalsAreExact) {
  const ReplyPlan missing = MissingApiKey("r-1", WallTime{});
  EXPECT_EQ(missing.status, 401);
  EXPECT_EQ(missing.body,
            R"({"code":"MISSING_API_KEY","message":"Authentication credentials are missing. Provide API key via )"
            R"(OPEN-SANDBOX-API-KEY header."})");
  const std::vector<Header> expected = {{"date", "Thu, 01 Jan 1970 00:00:00 GMT"},
                                        {"server", "uvicorn"},
                                        {"content-length", "127"},
                                        {"content-type", "application/json"},
                                        {"x-request-id", "r-1"}};
  EXPECT_EQ(missing.headers, expected);
  EXPECT_EQ(InvalidApiKey("r-1", WallTime{}).body,
            R"({"code":"INVALID_API_KEY","message":"Authentication credentials are invalid. Check your API key and )"
            R"(try again."})");
}

TEST(AuthTest, RefusalsTellTheOriginItsRights) {
  const Request request = MakeRequest("GET", "/v1/sandboxes", "", {{"Origin", "http://a"}});
  ReplyPlan plan = InvalidApiKey(request, "r-1", WallTime{});
  ASSERT_NE(plan.Find("access-control-allow-origin"), nullptr);
  EXPECT_EQ(plan.Find("access-control-allow-origin")->value, "http://a");
}

TEST(AuthTest, HeadIsRefusedWithoutABody) {
  ReplyPlan plan = MissingApiKey(MakeRequest("HEAD", "/v1/sandboxes"), "r-1", WallTime{});
  EXPECT_EQ(plan.body, "");
  EXPECT_EQ(plan.Find("content-length")->value, "127");
}

TEST(AuthTest, RequestIdIsTheTrimmedOneOrAFreshOne) {
  EXPECT_EQ(RequestIdOf(MakeRequest("GET", "/", "", {{"x-request-ID", "  a b  "}}), "fresh"), "a b");
  EXPECT_EQ(RequestIdOf(MakeRequest("GET", "/", "", {{"X-Request-ID", "   "}}), "fresh"), "fresh");
  EXPECT_EQ(RequestIdOf(MakeRequest("GET", "/"), "fresh"), "fresh");
}

}  // namespace
}  // namespace opensandbox::emulator

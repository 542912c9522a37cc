// Bodies, headers, URLs and order of requests: litellm's contract, section 12.1, and what this client adds.
#include <limits>

#include "client/providers/opensandbox_wire.h"
#include "tests/unit/providers/provider_fixture.h"

namespace opensandbox {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT: this project's
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OpenSandboxContractTest : public ProviderTest {
 protected:
  std::string BodyOf(const CreateSandboxRequest& request) {
    const Result<std::string> body = internal::CreateBody(request, "TAG");
    return body ? *body : body.error().Describe();
  }
};

TEST_F(OpenSandboxContractTest, TheDefaultBodyIsTheContractsAndATag) {
  EXPECT_EQ(BodyOf({}),
            R"({"image":{"uri":"opensandbox/code-interpreter:v1.1.0"},)"
            R"("entrypoint":["/opt/code-interpreter/code-interpreter.sh"],"timeout":300,)"
            R"("resourceLimits":{"cpu":"1","memory":"2Gi"},"metadata":{"opensandbox-client/create-id":"TAG"},)"
            R"("networkPolicy":{"defaultAction":"deny","egress":[]}})");
}

TEST_F(OpenSandboxContractTest, EveryOptionHasItsPlaceInTheBody) {
  CreateSandboxRequest request;
  request.image = "python:3.12";
  request.entrypoint = {"tail", "-f"};
  request.timeout_seconds = 0;
  request.resource_limits = {{"cpu", "2"}};
  request.metadata = {{"a", "b"}};
  request.env = {{"K", "v\xC3\xA9\""}};
  request.resource_requests = {{"memory", "1Gi"}};
  request.network_policy_json = R"({ "egress":[] ,"defaultAction":"allow"})";
  request.allow_internet_access = true;
  request.secure_access = true;
  EXPECT_EQ(BodyOf(request),
            R"({"image":{"uri":"python:3.12"},"entrypoint":["tail","-f"],"timeout":0,"resourceLimits":{"cpu":"2"},)"
            R"("metadata":{"a":"b","opensandbox-client/create-id":"TAG"},"env":{"K":"v)"
            "\xC3\xA9"
            R"(\""},"resourceRequests":{"memory":"1Gi"},"networkPolicy":{ "egress":[] ,"defaultAction":"allow"},)"
            R"("secureAccess":true})");
}

TEST_F(OpenSandboxContractTest, InternetIsDeniedUnlessExactlyAllowed) {
  CreateSandboxRequest request;
  request.allow_internet_access = true;
  EXPECT_THAT(BodyOf(request), Not(HasSubstr("networkPolicy")));
  request.allow_internet_access = false;
  EXPECT_THAT(BodyOf(request), HasSubstr(R"("networkPolicy":{"defaultAction":"deny","egress":[]})"));
  // A policy wins over the flag, and an empty image means the default.
  request.allow_internet_access = true;
  request.network_policy_json = R"({"x":1})";
  request.image = "";
  EXPECT_THAT(BodyOf(request), AllOf(HasSubstr(R"("networkPolicy":{"x":1})"), HasSubstr(kDefaultImage)));
}

TEST_F(OpenSandboxContractTest, WhatCannotBeSentIsRefusedBeforeAnything) {
  CreateSandboxRequest policy;
  policy.network_policy_json = "[1]";
  CreateSandboxRequest no_json;
  no_json.network_policy_json = "{";
  CreateSandboxRequest bytes;
  bytes.env = {{"K", "\xFF"}};
  CreateSandboxRequest tag;
  tag.metadata = {{kCreateTagKey, "mine"}};
  CreateSandboxRequest key;
  key.api_key = "a\r\nX-Evil: 1";
  for (const CreateSandboxRequest& request : {policy, no_json, bytes, tag, key}) {
    EXPECT_THAT(provider().CreateSandbox(request), FailsWith(ErrorKind::kInvalidArgument));
  }
  RunCodeRequest run;
  run.code = "\xC0\x80";
  EXPECT_THAT(provider().RunCode(Handle(), run), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(script().lines(), IsEmpty());
}

TEST_F(OpenSandboxContractTest, CreateThatIsRunningAtOnceMakesTwoRequestsWithoutAKey) {
  script().Then(Reply(202, SandboxJson("sb-1", "Running"))).Then(Reply(200, EndpointJson("e:1/proxy/44772")));
  const Result<SandboxHandle> handle = provider().CreateSandbox({});
  ASSERT_THAT(handle, IsOk());
  EXPECT_EQ(handle->id, "sb-1");
  EXPECT_EQ(handle->provider, "opensandbox");
  EXPECT_EQ(handle->domain, kBase);
  EXPECT_EQ(handle->execd_endpoint, "e:1/proxy/44772");
  EXPECT_FALSE(handle->use_server_proxy);
  EXPECT_THAT(script().lines(), ElementsAre("POST http://api.example/v1/sandboxes",
                                            "GET http://api.example/v1/sandboxes/sb-1/endpoints/44772"
                                            "?use_server_proxy=false"));
  for (const auto& seen : script().seen()) {
    EXPECT_THAT(seen.request.headers, ElementsAre(HeaderField{"Content-Type", "application/json"}));
  }
  EXPECT_EQ(SentTag().size(), 32u);
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(OpenSandboxContractTest, CustomOptionsReachEveryCall) {
  options_.api_base = std::nullopt;
  script()
      .Then(Reply(201, SandboxJson("sb-1", "Pending")))
      .Then(Reply(200, SandboxJson("sb-1", "Running")))
      .Then(Reply(200, R"({"endpoint":"e:1","headers":{"X-EXECD-ACCESS-TOKEN":"t"}})"));
  CreateSandboxRequest request;
  request.api_key = "key";
  request.api_base = "https://other.example//";
  request.use_server_proxy = true;
  const Result<SandboxHandle> handle = provider().CreateSandbox(request);
  ASSERT_THAT(handle, IsOk());
  EXPECT_TRUE(handle->use_server_proxy);
  EXPECT_EQ(handle->api_key, "key");
  EXPECT_THAT(handle->execd_headers, ElementsAre(HeaderField{"X-EXECD-ACCESS-TOKEN", "t"}));
  EXPECT_THAT(script().lines(),
              ElementsAre("POST https://other.example/sandboxes", "GET https://other.example/sandboxes/sb-1",
                          "GET https://other.example/sandboxes/sb-1/endpoints/44772?use_server_proxy=true"));
  for (const auto& seen : script().seen()) {
    EXPECT_THAT(seen.request.headers, ElementsAre(HeaderField{"Content-Type", "application/json"},
                                                  HeaderField{"OPEN-SANDBOX-API-KEY", "key"}));
  }
}

TEST_F(OpenSandboxContractTest, TagsDifferBetweenCreatesOfOneProvider) {
  script()
      .Then(Reply(202, SandboxJson("a", "Running")))
      .Then(Reply(200, EndpointJson()))
      .Then(Reply(202, SandboxJson("b", "Running")))
      .Then(Reply(200, EndpointJson()));
  ASSERT_THAT(provider().CreateSandbox({}), IsOk());
  ASSERT_THAT(provider().CreateSandbox({}), IsOk());
  EXPECT_NE(SentTag(0), SentTag(2));
}

TEST_F(OpenSandboxContractTest, TagsOfProvidersWithoutASeedDiffer) {
  options_.seed = 0;
  EXPECT_NE(FirstTag(), FirstTag());
}

TEST_F(OpenSandboxContractTest, TheBaseIsRequiredAndItsTextFixed) {
  options_.api_base = "";
  const char message[] = "OpenSandbox api_base is required. Pass api_base or set OPEN_SANDBOX_API_BASE.";
  EXPECT_THAT(provider().CreateSandbox({}), FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, message)));
  EXPECT_THAT(provider().RunCode("sb-1", {}), FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, message)));
  EXPECT_THAT(provider().DeleteSandbox("sb-1", {}),
              FailsWith(ErrorKind::kInvalidArgument, Field(&Error::message, message)));
  environment_[kApiBaseEnvVar] = "http://env.example/";
  script().Then(Reply(204, ""));
  EXPECT_THAT(provider().DeleteSandbox("sb-1", {}), IsOkAndHolds(true));
  EXPECT_THAT(script().lines(), ElementsAre("DELETE http://env.example/sandboxes/sb-1"));
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
}

TEST_F(OpenSandboxContractTest, BasesThatNoUrlCanBeBuiltFromAreRefused) {
  for (const char* base : {"api.example", "ftp://api.example", "http://", "http://a.example/v1?x=1",
                           "http://a.example/#f", "http://user:pw@a.example", "http://a b.example"}) {
    CreateSandboxRequest request;
    request.api_base = base;
    const Result<SandboxHandle> result = provider().CreateSandbox(request);
    EXPECT_THAT(result, FailsWith(ErrorKind::kInvalidArgument)) << base;
    EXPECT_THAT(result.error().Describe(), Not(HasSubstr("pw")));
  }
  EXPECT_THAT(script().lines(), IsEmpty());
}

TEST_F(OpenSandboxContractTest, TheKeyComesFromArgumentThenHandleThenOptionsThenEnvironment) {
  const auto key_sent = [this](const SandboxRef& sandbox, std::optional<std::string> argument) {
    script().Then(Reply(204, ""));
    DeleteSandboxRequest request;
    request.api_key = std::move(argument);
    EXPECT_THAT(provider().DeleteSandbox(sandbox, request), IsOk());
    return FindHeader(script().seen().back().request.headers, "OPEN-SANDBOX-API-KEY").value_or("none");
  };
  environment_[kApiKeyEnvVar] = "env";
  SandboxHandle handle = Handle();
  EXPECT_EQ(key_sent("sb", std::nullopt), "env");
  EXPECT_EQ(key_sent(handle, std::nullopt), "env");
  handle.api_key = "handle";
  EXPECT_EQ(key_sent(handle, std::nullopt), "handle");
  EXPECT_EQ(key_sent(handle, "argument"), "argument");
  EXPECT_EQ(key_sent(handle, ""), "none");
  handle.api_key = "";
  EXPECT_EQ(key_sent(handle, std::nullopt), "none");
  EXPECT_THAT(provider().ValidateEnvironment(std::nullopt), IsOkAndHolds("env"));
  EXPECT_THAT(provider().ValidateEnvironment("x"), IsOkAndHolds("x"));
  EXPECT_THAT(provider().ValidateEnvironment(""), IsOkAndHolds(""));
}

TEST_F(OpenSandboxContractTest, AKeyInTheOptionsBeatsTheEnvironmentEvenEmpty) {
  environment_[kApiKeyEnvVar] = "env";
  options_.api_key = "";
  EXPECT_THAT(provider().ValidateEnvironment(std::nullopt), IsOkAndHolds(""));
}

TEST_F(OpenSandboxContractTest, TheArgumentsBaseBeatsTheHandles) {
  script().Then(Reply(204, "")).Then(Reply(204, ""));
  DeleteSandboxRequest request;
  EXPECT_THAT(provider().DeleteSandbox(
                  [] {
                    SandboxHandle handle = Handle();
                    handle.domain = "http://handle.example";
                    return handle;
                  }(),
                  request),
              IsOk());
  request.api_base = "http://argument.example";
  EXPECT_THAT(provider().DeleteSandbox(Handle(), request), IsOk());
  EXPECT_THAT(script().lines(), ElementsAre("DELETE http://handle.example/sandboxes/sb-1",
                                            "DELETE http://argument.example/sandboxes/sb-1"));
}

TEST_F(OpenSandboxContractTest, IdsAreOneEscapedSegmentOrRefused) {
  script().Then(Reply(204, ""));
  EXPECT_THAT(provider().DeleteSandbox("a/b?c#d e%\xC3\xA9~._-", {}), IsOk());
  EXPECT_THAT(script().lines(), ElementsAre("DELETE http://api.example/v1/sandboxes/a%2Fb%3Fc%23d%20e%25%C3%A9~._-"));
  for (const std::string& id : {std::string(), std::string("."), std::string(".."), std::string(257, 'x')}) {
    EXPECT_THAT(provider().DeleteSandbox(id, {}), FailsWith(ErrorKind::kInvalidArgument)) << id;
    EXPECT_THAT(provider().RunCode(id, {}), FailsWith(ErrorKind::kInvalidArgument)) << id;
  }
  script().Then(Reply(204, "")).Then(Reply(204, ""));
  EXPECT_THAT(provider().DeleteSandbox(std::string(255, 'x'), {}), IsOk());
  EXPECT_THAT(provider().DeleteSandbox(std::string(256, 'x'), {}), IsOk());
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
}

TEST_F(OpenSandboxContractTest, AHandleOfAnotherProviderIsRefused) {
  SandboxHandle handle = Handle();
  handle.provider = "e2b";
  EXPECT_THAT(provider().RunCode(handle, {}), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(provider().DeleteSandbox(handle, {}), FailsWith(ErrorKind::kInvalidArgument));
}

TEST_F(OpenSandboxContractTest, SecondsLookLikePythonsFloats) {
  EXPECT_EQ(internal::PythonSeconds(30s), "30.0");
  EXPECT_EQ(internal::PythonSeconds(0s), "0.0");
  EXPECT_EQ(internal::PythonSeconds(500ms), "0.5");
  EXPECT_EQ(internal::PythonSeconds(1250ms), "1.25");
  EXPECT_EQ(internal::PythonSeconds(10us), "1e-05");
  EXPECT_EQ(internal::PythonSeconds(100us), "0.0001");
  EXPECT_EQ(internal::PythonSeconds(1000000s), "1000000.0");
}

struct EndpointCase {
  const char* endpoint;
  const char* base;
  const char* url;  // "" = refused
};

TEST_F(OpenSandboxContractTest, EndpointsGetTheSchemeOfTheBase) {
  const EndpointCase cases[] = {
      {"e.example/route/44772", "https://a", "https://e.example/route/44772"},
      {"e.example:1", "http://a", "http://e.example:1"},
      {"https://e.example/x//", "http://a", "https://e.example/x"},
      {"https://e.example", "https://a", "https://e.example"},
      {"HTTPS://e.example", "https://a", "HTTPS://e.example"},
      {"http://e.example", "http://a", "http://e.example"},
      {"http://e.example", "https://a", ""},
      {"ftp://e.example", "http://a", ""},
      {"e.example?x=1", "http://a", ""},
      {"e.example/#f", "http://a", ""},
      {"user@e.example", "http://a", ""},
      {"e example", "http://a", ""},
      {"e\r\nHost: evil", "http://a", ""},
      {"", "http://a", ""},
  };
  for (const EndpointCase& c : cases) {
    const Result<std::string> url = internal::ExecdBase(c.endpoint, c.base, false);
    if (*c.url == '\0') {
      EXPECT_THAT(url, FailsWith(ErrorKind::kProtocol)) << c.endpoint;
    } else {
      EXPECT_THAT(url, IsOkAndHolds(c.url)) << c.endpoint;
    }
  }
  EXPECT_THAT(internal::ExecdBase("http://e.example", "https://a", true), IsOkAndHolds("http://e.example"));
}

TEST_F(OpenSandboxContractTest, AnInsecureEndpointFailsTheCreateAndItsSandboxIsDeleted) {
  options_.api_base = "https://api.example";
  script()
      .Then(Reply(202, SandboxJson("sb-1", "Running")))
      .Then(Reply(200, EndpointJson("http://execd.example")))
      .Then(Reply(204, ""));
  EXPECT_THAT(provider().CreateSandbox({}),
              FailsWith(ErrorKind::kProtocol, AllOf(Field(&Error::cleanup, Cleanup::kDeleted),
                                                    Field(&Error::message, HasSubstr("http://execd.example")))));
  EXPECT_EQ(script().lines().back(), "DELETE https://api.example/sandboxes/sb-1");
}

TEST_F(OpenSandboxContractTest, EndpointHeadersOverrideByNameButNeverFrame) {
  const std::vector<HeaderField> headers = internal::WithEndpointHeaders(
      {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}},
      {{"accept", "x"}, {"X-Token", "t"}, {"Content-Length", "0"}, {"transfer-encoding", "chunked"}});
  EXPECT_THAT(headers, ElementsAre(HeaderField{"Content-Type", "application/json"}, HeaderField{"accept", "x"},
                                   HeaderField{"X-Token", "t"}));
}

TEST_F(OpenSandboxContractTest, AHeaderThatWouldSplitTheRequestIsRefusedWithoutShowingIt) {
  script()
      .Then(Reply(202, SandboxJson("sb-1", "Running")))
      .Then(Reply(200, R"({"endpoint":"e:1","headers":{"X-Token":"secret\r\nX-Evil: 1"}})"))
      .Then(Reply(204, ""));
  const Result<SandboxHandle> result = provider().CreateSandbox({});
  EXPECT_THAT(result, FailsWith(ErrorKind::kProtocol, Field(&Error::cleanup, Cleanup::kDeleted)));
  EXPECT_THAT(result.error().Describe(), Not(HasSubstr("secret")));
}

struct ErrorBodyCase {
  const char* body;
  const char* code;
  const char* message;
};

TEST_F(OpenSandboxContractTest, EveryErrorShapeKeepsCodeAndMessage) {
  const std::string own = "OpenSandbox deleteSandbox answered 400";
  const ErrorBodyCase cases[] = {
      {R"({"code":"C::X","message":"m"})", "C::X", "m"},
      {R"({"detail":{"code":"C","message":"m"}})", "C", "m"},
      {R"({"detail":"Not Found"})", "", "Not Found"},
      {R"({"detail":[{"loc":["body","timeout"],"msg":"too small"},{"loc":["body",0],"msg":"bad"}]})", "",
       "body.timeout: too small; body.0: bad"},
      {R"({"error":"Unauthorized: x"})", "", "Unauthorized: x"},
      {R"({"error":{"code":5,"message":"m"}})", "5", "m"},
      {"", "", "OpenSandbox deleteSandbox answered 400"},
      {"<html>\n<b>", "", "OpenSandbox deleteSandbox answered 400: \"<html> <b>\""},
      {"[1]", "", "OpenSandbox deleteSandbox answered 400: \"[1]\""},
      {"a\xFF", "", "OpenSandbox deleteSandbox answered 400: \"a\xEF\xBF\xBD\""},
  };
  for (const ErrorBodyCase& c : cases) {
    script().Then(Reply(400, c.body, {{"x-request-id", "r-1"}}));
    EXPECT_THAT(
        provider().DeleteSandbox("sb", {}),
        FailsWith(ErrorKind::kApi, AllOf(Field(&Error::code, c.code), Field(&Error::message, c.message),
                                         Field(&Error::http_status, 400), Field(&Error::request_id, "r-1"),
                                         Field(&Error::operation, "deleteSandbox"), Field(&Error::sandbox_id, "sb"))))
        << c.body;
  }
}

TEST_F(OpenSandboxContractTest, ADeeplyNestedErrorBodyOnlyCostsItsMessage) {
  script().Then(Reply(400, R"({"message":)" + std::string(2000000, '[')));
  EXPECT_THAT(provider().DeleteSandbox("sb", {}), FailsWith(ErrorKind::kApi));
  script().Then(Reply(400, R"({"message":)" + std::string(1000000, '[') + std::string(1000000, ']') + "}"));
  EXPECT_THAT(provider().DeleteSandbox("sb", {}), FailsWith(ErrorKind::kApi));
}

TEST_F(OpenSandboxContractTest, ARedirectIsAnErrorThatNamesTheOriginOnly) {
  options_.api_key = "key";
  const auto message_for = [this](const std::string& location) {
    script().Then(Reply(307, "", {{"Location", location}}));
    const Result<bool> result = provider().DeleteSandbox("sb", {});
    EXPECT_THAT(result, FailsWith(ErrorKind::kApi, Field(&Error::http_status, 307)));
    return result.error().message;
  };
  EXPECT_EQ(message_for("https://evil.example/steal?token=s"),
            "OpenSandbox deleteSandbox was redirected to https://evil.example; redirects are not followed");
  EXPECT_THAT(message_for("/elsewhere?token=s"), HasSubstr("within its own origin"));
  EXPECT_THAT(message_for("http://api.example/elsewhere"), HasSubstr("within its own origin"));
  EXPECT_THAT(message_for("//evil.example/?token=s"), AllOf(HasSubstr("another origin"), Not(HasSubstr("token"))));
  EXPECT_THAT(message_for("https://u:pw@evil.example/"), Not(HasSubstr("pw")));
  EXPECT_EQ(script().seen().size(), 5u);
}

TEST_F(OpenSandboxContractTest, RetryAfterIsReadInAllItsForms) {
  const WallTime now = WallTime(std::chrono::seconds(1767225600));  // Thu, 01 Jan 2026 00:00:00 GMT
  const auto read = [now](const char* text) { return internal::ParseRetryAfter(text, now); };
  EXPECT_EQ(read("0"), 0s);
  EXPECT_EQ(read(" 7 "), 7s);
  EXPECT_EQ(read("Thu, 01 Jan 2026 00:00:30 GMT"), 30s);
  EXPECT_EQ(read("Wed, 31 Dec 2025 23:59:30 GMT"), 0s);
  EXPECT_EQ(read("99999999999999999999999"), 10 * 365 * 24h);
  for (const char* garbage : {"", " ", "-1", "+1", "1.5", "soon", "1s"})
    EXPECT_EQ(read(garbage), std::nullopt) << garbage;
}

}  // namespace
}  // namespace opensandbox

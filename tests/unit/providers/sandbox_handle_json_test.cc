#include "opensandbox/providers/sandbox_handle_json.h"

#include "opensandbox/providers/e2b_provider.h"
#include "tests/unit/providers/provider_fixture.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SandboxHandleJsonTest : public ProviderTest {
 protected:
  static SandboxHandle Full() {
    SandboxHandle handle = Handle();
    handle.api_base = "http://base";
    handle.execd_headers = {{"X-Access-Token", "TOKEN"}};
    handle.use_server_proxy = true;
    handle.api_key = "KEY";
    return handle;
  }
};

TEST_F(SandboxHandleJsonTest, WhatWasWrittenIsReadBack) {
  const Result<SandboxHandle> read = HandleFromJson(HandleToJson(Full(), HandleSecrets::kAll));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->id, "sb-1");
  EXPECT_EQ(read->provider, "opensandbox");
  EXPECT_EQ(read->domain, kBase);
  EXPECT_EQ(read->api_base, "http://base");
  EXPECT_EQ(read->execd_endpoint, "execd.example:44772");
  EXPECT_EQ(read->execd_headers, Full().execd_headers);
  EXPECT_TRUE(read->use_server_proxy);
  EXPECT_EQ(read->api_key, "KEY");
}

TEST_F(SandboxHandleJsonTest, SecretsAreWrittenOnlyWhenAskedFor) {
  EXPECT_THAT(HandleToJson(Full()), AllOf(HasSubstr("TOKEN"), Not(HasSubstr("KEY"))));
  EXPECT_THAT(HandleToJson(Full(), HandleSecrets::kLeaveOut), AllOf(Not(HasSubstr("TOKEN")), Not(HasSubstr("KEY"))));
}

TEST_F(SandboxHandleJsonTest, AHandleThatWasStoredRunsAgain) {
  auto transport = std::make_shared<ScriptedTransport>();
  transport->Then(Reply(201, R"({"sandboxID":"s","envdAccessToken":"tok"})"));
  transport->Then(Streams({{"{\"type\":\"end_of_execution\"}\n"}}));
  E2bProviderOptions options;
  options.api_key = "k";
  options.transport = transport;
  options.getenv = [](const std::string&) { return std::nullopt; };
  const Result<SandboxHandle> created = MakeE2bProvider(options)->CreateSandbox({});
  ASSERT_THAT(created, IsOk());
  const Result<SandboxHandle> stored = HandleFromJson(HandleToJson(*created));
  ASSERT_THAT(stored, IsOk());
  EXPECT_THAT(MakeE2bProvider(options)->RunCode(*stored, {.code = "1"}), IsOk());
  EXPECT_EQ(FindHeader(transport->seen()[1].request.headers, "X-Access-Token"), "tok");
}

TEST_F(SandboxHandleJsonTest, ADomainAloneIsEnoughToDelete) {
  options_.api_base.reset();
  script().Then(Reply(204, ""));
  const Result<SandboxHandle> handle = HandleFromJson(R"({"id":"sb-1","domain":"http://elsewhere/v1"})");
  ASSERT_THAT(handle, IsOk());
  EXPECT_THAT(provider().DeleteSandbox(*handle, {}), IsOkAndHolds(true));
  EXPECT_EQ(script().lines()[0], "DELETE http://elsewhere/v1/sandboxes/sb-1");
}

TEST_F(SandboxHandleJsonTest, WhatIsNoHandleIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"id":5})", R"({"id":""})", R"({"id":"a","domain":1})",
                           R"({"id":"a","execd_headers":{}})", R"({"id":"a","execd_headers":[["x"]]})",
                           R"({"id":"a","use_server_proxy":1})", R"({"id":"a","api_key":null})"}) {
    EXPECT_THAT(HandleFromJson(text), FailsWith(ErrorKind::kInvalidArgument)) << text;
  }
  EXPECT_THAT(HandleFromJson(R"({"id":"a","from_a_newer_version":1})"), IsOk());
}

}  // namespace
}  // namespace opensandbox

// Facts: litellm's contract, section 7, and E2B's wire (create 1.4, list 1.5, execute 3.1), as literal bytes.
#include "opensandbox/providers/e2b_provider.h"

#include "opensandbox/providers/sandbox_renewal.h"
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
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kCreated[] =
    R"({"alias":"code-interpreter-v1","clientID":"6532622b","envdAccessToken":"tok","envdVersion":"0.6.13",)"
    R"("sandboxID":"i8k2q0v5m1x7c3b9n6z4p","templateID":"nlhz8vlwyupq845jsdg9"})";
constexpr char kId[] = "i8k2q0v5m1x7c3b9n6z4p";
constexpr char kOk[] =
    "{\"type\": \"number_of_executions\", \"execution_count\": 1}\n"
    "{\"type\": \"stdout\", \"text\": \"hi\\n\", \"timestamp\": \"2026-01-01T00:00:00.123456+00:00\"}\n"
    "{\"type\": \"keepalive\"}\n"
    "{\"type\": \"result\", \"text\": \"2\", \"extra\": {}, \"is_main_result\": true}\n"
    "{\"type\": \"end_of_execution\"}\n";

class E2bProviderTest : public ::testing::Test {
 protected:
  E2bProviderTest() {
    options_.api_key = "e2b_00";
    options_.transport = transport_;
    options_.seed = 7;
    options_.retry.jitter = 0;
    options_.leak_sink = &leaks_;
    options_.getenv = [this](const std::string& name) {
      const auto it = environment_.find(name);
      return it == environment_.end() ? std::nullopt : std::optional<std::string>(it->second);
    };
  }
  SandboxProvider& provider() {
    if (provider_ == nullptr) provider_ = MakeE2bProvider(options_);
    return *provider_;
  }
  ScriptedTransport& script() { return *transport_; }
  static SandboxHandle Handle() {
    SandboxHandle handle;
    handle.id = "sbx_xyz";
    handle.provider = "e2b";
    handle.domain = "e2b.app";
    handle.execd_headers = {{"X-Access-Token", "tok"}};
    return handle;
  }
  Result<CodeExecutionResult> Run(Exchange exchange, RunCodeRequest request = {}) {
    if (request.code.empty()) request.code = "1+1";
    script().Then(std::move(exchange));
    return provider().RunCode(Handle(), request);
  }
  std::string SentTag(std::size_t index = 0) {
    const std::string body = script().seen().at(index).request.body;
    const std::string before = std::string("\"") + kCreateTagKey + "\":\"";
    return body.substr(body.find(before) + before.size(), 32);
  }

  std::shared_ptr<ScriptedTransport> transport_ = std::make_shared<ScriptedTransport>();
  LeakLedger leaks_;
  std::map<std::string, std::string> environment_;
  E2bProviderOptions options_;

 private:
  std::unique_ptr<SandboxProvider> provider_;
};

// --- create
// -----------------------------------------------------------------------------------------------------------

TEST_F(E2bProviderTest, CreatesWithOneRequest) {
  script().Then(Reply(201, kCreated));
  const Result<SandboxHandle> handle = provider().CreateSandbox({});
  ASSERT_THAT(handle, IsOk());
  ASSERT_THAT(script().lines(), ElementsAre("POST https://api.e2b.app/sandboxes"));
  const HttpRequest request = script().seen()[0].request;
  EXPECT_THAT(request.headers,
              ElementsAre(HeaderField{"X-API-Key", "e2b_00"}, HeaderField{"Content-Type", "application/json"}));
  EXPECT_EQ(request.body,
            R"({"templateID":"code-interpreter-v1","timeout":300,"secure":true,"allow_internet_access":true,)"
            R"("metadata":{"opensandbox-client/create-id":")" +
                SentTag() + R"("}})");
  EXPECT_EQ(handle->id, kId);
  EXPECT_EQ(handle->provider, "e2b");
  EXPECT_EQ(handle->domain, "e2b.app");
  EXPECT_EQ(handle->api_base, "https://api.e2b.app");
  EXPECT_THAT(handle->execd_headers, ElementsAre(HeaderField{"X-Access-Token", "tok"}));
}

TEST_F(E2bProviderTest, SendsWhatWasAskedFor) {
  script().Then(Reply(201, kCreated));
  CreateSandboxRequest request;
  request.image = "base";
  request.timeout_seconds = 0;
  request.allow_internet_access = false;
  request.metadata = {{"a", "b"}};
  request.env = {{"X", "1"}};
  ASSERT_THAT(provider().CreateSandbox(request), IsOk());
  EXPECT_THAT(script().seen()[0].request.body,
              AllOf(StartsWith(R"({"templateID":"base","timeout":0,"secure":true,"allow_internet_access":false,)"
                               R"("metadata":{"a":"b",)"),
                    ::testing::EndsWith(R"(,"envVars":{"X":"1"}})")));
}

TEST_F(E2bProviderTest, ANetworkPolicyIsRefusedInsteadOfIgnored) {
  CreateSandboxRequest request;
  request.network_policy_json = "{}";
  EXPECT_THAT(provider().CreateSandbox(request), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(script().seen(), IsEmpty());
}

TEST_F(E2bProviderTest, WithoutAKeyNothingIsSent) {
  options_.api_key.reset();
  const auto fails = FailsWith(ErrorKind::kInvalidArgument,
                               Field(&Error::message, "E2B API key not set. Set E2B_API_KEY or pass api_key=..."));
  EXPECT_THAT(provider().ValidateEnvironment(std::nullopt), fails);
  EXPECT_THAT(provider().ValidateEnvironment(""), fails);
  EXPECT_THAT(provider().CreateSandbox({}), fails);
  EXPECT_THAT(provider().DeleteSandbox("sb", {}), fails);
  EXPECT_THAT(script().seen(), IsEmpty());
  environment_["E2B_API_KEY"] = "env";
  EXPECT_THAT(provider().ValidateEnvironment(std::nullopt), IsOkAndHolds("env"));
  EXPECT_THAT(provider().ValidateEnvironment("arg"), IsOkAndHolds("arg"));
}

TEST_F(E2bProviderTest, TheBaseComesFromTheNearestPlace) {
  const auto line = [this](std::optional<std::string> argument) {
    script().Then(Reply(201, kCreated));
    CreateSandboxRequest request;
    request.api_base = std::move(argument);
    (void)provider().CreateSandbox(request);
    return script().lines().back();
  };
  EXPECT_EQ(line(std::nullopt), "POST https://api.e2b.app/sandboxes");
  environment_["E2B_DOMAIN"] = "corp.example";
  EXPECT_EQ(line(std::nullopt), "POST https://api.corp.example/sandboxes");
  environment_["E2B_API_URL"] = "http://127.0.0.1:3000/";
  EXPECT_EQ(line(std::nullopt), "POST http://127.0.0.1:3000/sandboxes");  // no double slash
  EXPECT_EQ(line("http://arg//"), "POST http://arg/sandboxes");
}

TEST_F(E2bProviderTest, AnAnswerWithoutIdIsLookedUpByItsTagAndDeleted) {
  for (const char* body : {"{}", R"({"sandboxID":7})", "no json"}) {
    auto transport = std::make_shared<ScriptedTransport>();
    options_.transport = transport;
    std::string tag;
    transport->Otherwise([&](const HttpRequest& request) {
      if (request.method == "POST") {
        const std::string before = std::string("\"") + kCreateTagKey + "\":\"";
        tag = request.body.substr(request.body.find(before) + before.size(), 32);
        return Reply(201, body);
      }
      if (request.method == "GET") {
        return Reply(200, R"([{"sandboxID":"mine","metadata":{"opensandbox-client/create-id":")" + tag +
                              R"("}},{"sandboxID":"other","metadata":{"opensandbox-client/create-id":"x"}}])");
      }
      return Reply(204, "");
    });
    const auto result = MakeE2bProvider(options_)->CreateSandbox({});
    EXPECT_THAT(result, FailsWith(ErrorKind::kProtocol, Field(&Error::cleanup, Cleanup::kDeleted))) << body;
    EXPECT_THAT(transport->lines(),
                ElementsAre("POST https://api.e2b.app/sandboxes",
                            "GET https://api.e2b.app/v2/sandboxes?metadata=opensandbox-client%25252Fcreate-id%3D" + tag,
                            "DELETE https://api.e2b.app/sandboxes/mine"));
  }
}

TEST_F(E2bProviderTest, ALostCreateIsAdoptedWithItsToken) {
  options_.lost_create = LostCreatePolicy::kAdopt;
  std::string tag;
  script().Otherwise([&](const HttpRequest& request) {
    if (request.method == "POST") {
      const std::string before = std::string("\"") + kCreateTagKey + "\":\"";
      tag = request.body.substr(request.body.find(before) + before.size(), 32);
      return Reset();
    }
    if (request.url.find("/v2/") != std::string::npos) {
      return Reply(200, R"([{"sandboxID":"mine","metadata":{"opensandbox-client/create-id":")" + tag + R"("}}])");
    }
    return Reply(200, R"({"sandboxID":"mine","envdAccessToken":"tok2"})");
  });
  const Result<SandboxHandle> handle = provider().CreateSandbox({});
  ASSERT_THAT(handle, IsOk());
  EXPECT_EQ(handle->id, "mine");
  EXPECT_THAT(handle->execd_headers, ElementsAre(HeaderField{"X-Access-Token", "tok2"}));
}

TEST_F(E2bProviderTest, TheListIsReadToItsEnd) {
  script().Then(Reset());
  script().Then(Reply(200, "[]", {{"X-Next-Token", "a/b"}}));
  script().Otherwise([](const HttpRequest&) { return Reply(200, "[]"); });
  EXPECT_THAT(provider().CreateSandbox({}), FailsWith(ErrorKind::kOutcomeUnknown));
  EXPECT_THAT(script().lines()[2], ::testing::EndsWith("&nextToken=a%2Fb"));
}

TEST_F(E2bProviderTest, ADomainThatNobodyAllowedGetsNoTokenAndTheSandboxIsDeleted) {
  script()
      .Then(Reply(201, R"({"sandboxID":"s","envdAccessToken":"tok","domain":"evil.example"})"))
      .Then(Reply(204, ""));
  EXPECT_THAT(provider().CreateSandbox({}),
              FailsWith(ErrorKind::kProtocol, AllOf(Field(&Error::message, HasSubstr("evil.example")),
                                                    Field(&Error::cleanup, Cleanup::kDeleted))));
  EXPECT_EQ(script().lines().back(), "DELETE https://api.e2b.app/sandboxes/s");
}

struct DomainRow {
  const char* domain;
  bool allowed;
};

TEST_F(E2bProviderTest, DomainsAreComparedByWholeLabels) {
  options_.allowed_domains = {"sbx.localhost"};
  options_.api_base = "https://api.corp.example";
  for (const DomainRow row : {DomainRow{"e2b.app", true},
                              {"us.E2B.app", true},
                              {"xe2b.app", false},
                              {"e2b.app.evil.com", false},
                              {"sbx.localhost:8443", true},
                              {"sbx.localhost:", false},
                              {"sbx.localhost:8443/x", false},
                              {"a@sbx.localhost", false},
                              {"corp.example", true},
                              {".e2b.app", false},
                              {"x..e2b.app", false}}) {
    SandboxHandle handle = Handle();
    handle.domain = row.domain;
    script().Then(Streams({{kOk}}));
    const auto result = provider().RunCode(handle, {.code = "1"});
    EXPECT_EQ(result.has_value(), row.allowed) << row.domain;
    if (!result) {
      EXPECT_THAT(script().left(), 1u);
      (void)script().Send({}, {});  // take the unused answer away
    }
  }
}

// --- run
// --------------------------------------------------------------------------------------------------------------

TEST_F(E2bProviderTest, RunsAtTheSandboxsHost) {
  const auto result = Run(Streams({{kOk}}));
  ASSERT_THAT(result, IsOk());
  const HttpRequest request = script().seen()[0].request;
  EXPECT_EQ(script().seen()[0].Line(), "POST https://49999-sbx_xyz.e2b.app/execute");
  EXPECT_THAT(request.headers,
              ElementsAre(HeaderField{"Content-Type", "application/json"}, HeaderField{"X-Access-Token", "tok"}));
  EXPECT_EQ(request.body, R"({"code":"1+1","context_id":null,"env_vars":null})");
  EXPECT_EQ(result->stdout_text, "hi\n");
  EXPECT_EQ(result->execution_count, 1);
  EXPECT_THAT(result->results,
              ElementsAre(ElementsAre(Pair("extra", "{}"), Pair("is_main_result", "true"), Pair("text", "2"))));
  EXPECT_FALSE(result->error.has_value());
  EXPECT_EQ(result->skipped_lines_count, 0u);
}

TEST_F(E2bProviderTest, ATrafficTokenAndALanguageAreSent) {
  SandboxHandle handle = Handle();
  handle.execd_headers.push_back({"E2B-Traffic-Access-Token", "traffic"});
  script().Then(Streams({{kOk}}));
  ASSERT_THAT(provider().RunCode(handle, {.code = "ls", .language = "bash"}), IsOk());
  EXPECT_THAT(script().seen()[0].request.headers,
              ::testing::Contains(HeaderField{"E2B-Traffic-Access-Token", "traffic"}));
  EXPECT_EQ(script().seen()[0].request.body, R"({"code":"ls","context_id":null,"env_vars":null,"language":"bash"})");
}

TEST_F(E2bProviderTest, OneAddressForAllSandboxesNamesTheSandboxByHeaders) {
  environment_["E2B_SANDBOX_URL"] = "http://127.0.0.1:3000";
  ASSERT_THAT(Run(Streams({{kOk}})), IsOk());
  EXPECT_EQ(script().seen()[0].Line(), "POST http://127.0.0.1:3000/execute");
  EXPECT_THAT(script().seen()[0].request.headers, AllOf(::testing::Contains(HeaderField{"E2b-Sandbox-Id", "sbx_xyz"}),
                                                        ::testing::Contains(HeaderField{"E2b-Sandbox-Port", "49999"})));
}

TEST_F(E2bProviderTest, ABareIdOrAHandleWithoutTokenCannotRun) {
  const auto fails = FailsWith(
      ErrorKind::kInvalidArgument,
      Field(&Error::message,
            "Cannot run code from a sandbox id alone. e2b secure sandboxes require the access token returned by "
            "acreate_sandbox; pass the ContainerHandle it returned instead of a bare sandbox id."));
  EXPECT_THAT(provider().RunCode("sbx", {.code = "1"}), fails);
  SandboxHandle handle = Handle();
  handle.execd_headers.clear();
  EXPECT_THAT(provider().RunCode(handle, {.code = "1"}), fails);
  EXPECT_THAT(script().seen(), IsEmpty());
}

TEST_F(E2bProviderTest, IdsThatWouldChangeTheHostAreRefused) {
  for (const std::string& id : {std::string("a.b"), std::string("a/b"), std::string("a@b"), std::string(58, 'x')}) {
    SandboxHandle handle = Handle();
    handle.id = id;
    EXPECT_FALSE(provider().RunCode(handle, {.code = "1"}).has_value()) << id;
  }
  EXPECT_THAT(script().seen(), IsEmpty());
  SandboxHandle handle = Handle();
  handle.id = std::string(57, 'x');
  script().Then(Streams({{kOk}}));
  EXPECT_THAT(provider().RunCode(handle, {.code = "1"}), IsOk());
}

TEST_F(E2bProviderTest, AHandleOfAnotherProviderIsRefused) {
  SandboxHandle handle = Handle();
  handle.provider = "opensandbox";
  EXPECT_THAT(provider().RunCode(handle, {.code = "1"}), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(provider().DeleteSandbox(handle, {}), FailsWith(ErrorKind::kInvalidArgument));
}

TEST_F(E2bProviderTest, CodeThatRaisesIsASuccessWithItsErrors) {
  const auto result =
      Run(Streams({{"{\"type\": \"number_of_executions\", \"execution_count\": 2}\n"
                    "{\"type\": \"error\", \"name\": \"ZeroDivisionError\", \"value\": \"division by zero\", "
                    "\"traceback\": \"---ZeroDivisionError: division by zero\"}\n"
                    "{\"type\": \"error\", \"name\": \"Second\", \"value\": \"\", \"traceback\": \"\"}\n"
                    "{\"type\": \"end_of_execution\"}\n"}}));
  ASSERT_THAT(result, IsOk());
  ASSERT_THAT(result->errors, SizeIs(2));
  EXPECT_EQ(result->error->name, "ZeroDivisionError");
  EXPECT_EQ(result->error->value, "division by zero");
  EXPECT_THAT(result->error->traceback, ElementsAre("---ZeroDivisionError: division by zero"));
}

TEST_F(E2bProviderTest, StrayLinesAreSkippedAndCounted) {
  const auto result =
      Run(Streams({{"42\nnull\n[1]\n\"x\"\nnot json\n{\"type\": \"stdout\", \"text\": 5}\n"
                    "{\"type\":\"stdout\",\"text\":null}\n{\"type\":\"number_of_executions\","
                    "\"execution_count\":true}\n" +
                    std::string(kOk)}}));
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->stdout_text, "hi\n");
  EXPECT_EQ(result->execution_count, 1);
  EXPECT_EQ(result->skipped_lines_count, 7u);
}

TEST_F(E2bProviderTest, AStreamMustAnnounceItsEndOrEndRegularly) {
  const std::string accepted =
      "{\"type\": \"number_of_executions\", \"execution_count\": 1}\n{\"type\":\"stdout\",\"text\":\"a\"}\n";
  EXPECT_THAT(Run(Streams({{accepted}})), IsOk());  // older servers announce no end
  script().Otherwise([](const HttpRequest&) { return Reply(200, R"({"sandboxID":"sbx_xyz"})"); });
  const auto cut = Run(Streams({{accepted}}, Exchange::End::kCut));
  ASSERT_THAT(cut, FailsWith(ErrorKind::kStreamTruncated, Field(&Error::outcome, Outcome::kHappened)));
  EXPECT_EQ(cut.error().partial_result->stdout_text, "a");
  EXPECT_TRUE(cut.error().partial_result->truncated);
  EXPECT_THAT(Run(Streams({{"{\"type\":\"stdout\",\"text\":\"a\"}\n"}})), FailsWith(ErrorKind::kStreamTruncated));
  EXPECT_THAT(Run(Streams({})), FailsWith(ErrorKind::kStreamTruncated));
  EXPECT_THAT(Run(Streams({{"<html>\n"}})), FailsWith(ErrorKind::kProtocol));
}

TEST_F(E2bProviderTest, TheOutputCapIsExactAndKeepsWhatCame) {
  const auto run = [this](std::size_t bytes) {
    RunCodeRequest request;
    request.code = "1";
    request.output_bytes_max = 10;
    return Run(Streams({{"{\"type\":\"stdout\",\"text\":\"" + std::string(bytes, 'x') + "\"}\n" +
                         std::string(kOk).substr(0, 52) + "\n{\"type\":\"end_of_execution\"}\n"}}),
               request);
  };
  EXPECT_THAT(run(9), IsOk());
  EXPECT_THAT(run(10), IsOk());
  const auto over = run(11);
  ASSERT_THAT(over, FailsWith(ErrorKind::kOutputLimit,
                              Field(&Error::message,
                                    "Sandbox output exceeded 10 bytes; aborting to avoid unbounded memory use.")));
  EXPECT_EQ(over.error().partial_result->stdout_text, std::string(10, 'x'));
  EXPECT_TRUE(script().seen().back().stopped_by_handler);
}

TEST_F(E2bProviderTest, SilenceAndLongRunsEndByTheirOwnClocks) {
  script().Otherwise([](const HttpRequest&) { return Reply(200, R"({"sandboxID":"sbx_xyz"})"); });
  RunCodeRequest request;
  request.code = "1";
  request.idle_timeout = 10s;
  EXPECT_THAT(Run(Streams({}, Exchange::End::kSilence), request),
              FailsWith(ErrorKind::kTimeout, Field(&Error::timeout_clock, TimeoutClock::kIdle)));
  request.idle_timeout = 100s;
  request.run_deadline = 20s;
  EXPECT_THAT(Run(Streams({}, Exchange::End::kSilence), request),
              FailsWith(ErrorKind::kTimeout, AllOf(Field(&Error::timeout_clock, TimeoutClock::kRunDeadline),
                                                   Field(&Error::message, HasSubstr("within 20.0 seconds")))));
}

TEST_F(E2bProviderTest, ASandboxThatTheProxyDoesNotFindIsGoneAndRanNothing) {
  EXPECT_THAT(Run(Reply(502, R"({"sandboxId":"sbx_xyz","message":"The sandbox was not found","code":502})")),
              FailsWith(ErrorKind::kSandboxGone, Field(&Error::outcome, Outcome::kDidNotHappen)));
  EXPECT_THAT(script().seen(), SizeIs(1));
}

TEST_F(E2bProviderTest, AFailedRunIsExplainedByItsSandbox) {
  script().Then(Reset()).Then(Reply(404, R"({"code":404,"message":"Sandbox \"sbx_xyz\" doesn't exist"})"));
  EXPECT_THAT(provider().RunCode(Handle(), {.code = "1"}), FailsWith(ErrorKind::kSandboxGone));
  EXPECT_THAT(script().lines(),
              ElementsAre("POST https://49999-sbx_xyz.e2b.app/execute", "GET https://api.e2b.app/sandboxes/sbx_xyz"));
}

TEST_F(E2bProviderTest, OnlyARunThatWasNotSentIsSentAgain) {
  script().Then(Refused()).Then(Reply(429, "")).Then(Streams({{kOk}}));
  EXPECT_THAT(provider().RunCode(Handle(), {.code = "1"}), IsOk());
  script().Then(Reset()).Then(Reply(200, R"({"sandboxID":"sbx_xyz"})"));
  EXPECT_THAT(provider().RunCode(Handle(), {.code = "1"}),
              FailsWith(ErrorKind::kTransport, Field(&Error::outcome, Outcome::kUnknown)));
  EXPECT_THAT(script().seen(), SizeIs(5));
}

TEST_F(E2bProviderTest, CancellationEndsARunAtOnce) {
  std::stop_source source;
  Exchange silent = Streams({}, Exchange::End::kSilence);
  silent.before = [&source] { source.request_stop(); };
  RunCodeRequest request;
  request.code = "1";
  request.stop = source.get_token();
  EXPECT_THAT(Run(silent, request), FailsWith(ErrorKind::kCancelled));
  EXPECT_THAT(script().seen(), SizeIs(1));
}

// --- delete and renew
// ---------------------------------------------------------------------------------------------------

TEST_F(E2bProviderTest, DeletesWithTheKeyAlone) {
  script().Then(Reply(204, "")).Then(Reply(404, "")).Then(Reply(500, "")).Then(Reply(204, ""));
  EXPECT_THAT(provider().DeleteSandbox("sbx", {}), IsOkAndHolds(true));
  EXPECT_EQ(script().seen()[0].Line(), "DELETE https://api.e2b.app/sandboxes/sbx");
  EXPECT_THAT(script().seen()[0].request.headers, ElementsAre(HeaderField{"X-API-Key", "e2b_00"}));
  EXPECT_THAT(provider().DeleteSandbox("sbx", {}), IsOkAndHolds(false));
  EXPECT_THAT(provider().DeleteSandbox("sbx", {}), IsOkAndHolds(true));
}

TEST_F(E2bProviderTest, AHandleIsDeletedWhereItWasMadeUnlessTheCallSaysOtherwise) {
  SandboxHandle handle = Handle();
  handle.api_base = "https://api.corp.example";
  handle.api_key = "handle-key";
  script().Then(Reply(204, "")).Then(Reply(204, ""));
  EXPECT_THAT(provider().DeleteSandbox(handle, {}), IsOk());
  EXPECT_EQ(script().seen()[0].Line(), "DELETE https://api.corp.example/sandboxes/sbx_xyz");
  EXPECT_THAT(script().seen()[0].request.headers, ElementsAre(HeaderField{"X-API-Key", "handle-key"}));
  DeleteSandboxRequest request;
  request.api_base = "http://arg";
  request.api_key = "arg-key";
  EXPECT_THAT(provider().DeleteSandbox(handle, request), IsOk());
  EXPECT_EQ(script().seen()[1].Line(), "DELETE http://arg/sandboxes/sbx_xyz");
}

TEST_F(E2bProviderTest, AFailedDeleteReachesTheSink) {
  script().Then(Reply(401, R"({"code":401,"message":"no"})"));
  EXPECT_THAT(provider().DeleteSandbox("sbx", {}), FailsWith(ErrorKind::kApi));
  ASSERT_THAT(leaks_.Leaks(), SizeIs(1));
  EXPECT_EQ(leaks_.Leaks()[0].provider, "e2b");
}

TEST_F(E2bProviderTest, RenewsInWholeSeconds) {
  auto* renewal = dynamic_cast<SandboxRenewal*>(&provider());
  ASSERT_NE(renewal, nullptr);
  script().Then(Reply(204, "")).Then(Reply(404, ""));
  RenewSandboxRequest request;
  request.lifetime = 1500ms;
  EXPECT_THAT(renewal->RenewSandbox(Handle(), request), IsOk());
  EXPECT_EQ(script().seen()[0].Line(), "POST https://api.e2b.app/sandboxes/sbx_xyz/timeout");
  EXPECT_EQ(script().seen()[0].request.body, R"({"timeout":2})");
  EXPECT_THAT(renewal->RenewSandbox(Handle(), request), FailsWith(ErrorKind::kSandboxGone));
}

TEST_F(E2bProviderTest, EphemeralIsPostPostDelete) {
  script().Then(Reply(201, kCreated)).Then(Reset()).Then(Reply(200, kCreated)).Then(Reply(204, ""));
  EXPECT_THAT(RunCodeInEphemeralSandbox(provider(), {}, {.code = "1"}),
              FailsWith(ErrorKind::kTransport, Field(&Error::cleanup, Cleanup::kDeleted)));
  EXPECT_EQ(script().lines().back(), std::string("DELETE https://api.e2b.app/sandboxes/") + kId);
}

}  // namespace
}  // namespace opensandbox

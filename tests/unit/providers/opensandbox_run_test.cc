// Running code: the request, every way a stream can end, and what is done about it.
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
using ::testing::NotNull;

const char kPostCode[] = "POST http://execd.example:44772/code";
const char kGetState[] = "GET http://api.example/v1/sandboxes/sb-1";
const char kGetEndpoint[] = "GET http://api.example/v1/sandboxes/sb-1/endpoints/44772?use_server_proxy=false";
const char kInit[] = "{\"type\":\"init\",\"text\":\"ctx 1\"}\n\n";
const char kPing[] = "{\"type\":\"ping\",\"text\":\"pong\"}\n\n";
const char kDone[] = "{\"type\":\"execution_complete\",\"execution_time\":3}\n\n";

std::string Out(const std::string& text) { return "{\"type\":\"stdout\",\"text\":\"" + text + "\"}\n\n"; }

class OpenSandboxRunTest : public ProviderTest {
 protected:
  using End = Exchange::End;
  Exchange State(const std::string& state) { return Reply(200, SandboxJson("sb-1", state, "REASON", "words")); }
  Result<CodeExecutionResult> Run(RunCodeRequest request = {}) {
    if (request.code.empty()) request.code = "print(1)";
    return provider().RunCode(Handle(), request);
  }
  // The error is about a run that printed `text` before it failed.
  static auto Partial(const std::string& text) {
    return Field(&Error::partial_result,
                 AllOf(NotNull(), ::testing::Pointee(AllOf(Field(&CodeExecutionResult::stdout_text, text),
                                                           Field(&CodeExecutionResult::truncated, true)))));
  }
};

TEST_F(OpenSandboxRunTest, SendsTheContractsRequestAndReadsTheStream) {
  options_.api_key = "secret";
  script().Then(Streams({{kInit}, {kPing}, {Out("1\\n")}, {kDone}}));
  SandboxHandle handle = Handle();
  handle.execd_headers = {{"X-EXECD-ACCESS-TOKEN", "t"}};
  RunCodeRequest request;
  request.code = "print(\"\xC3\xA9\")\n";
  const Result<CodeExecutionResult> result = provider().RunCode(handle, request);
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->stdout_text, "1\n");
  EXPECT_FALSE(result->truncated);
  EXPECT_FALSE(result->cut_after_completion);
  ASSERT_EQ(script().seen().size(), 1u);
  const auto seen = script().seen()[0];
  EXPECT_TRUE(seen.streamed);
  EXPECT_EQ(seen.Line(), kPostCode);
  EXPECT_THAT(seen.request.headers,
              ElementsAre(HeaderField{"Content-Type", "application/json"}, HeaderField{"Accept", "text/event-stream"},
                          HeaderField{"Cache-Control", "no-cache"}, HeaderField{"X-EXECD-ACCESS-TOKEN", "t"}));
  EXPECT_EQ(seen.request.body, "{\"code\":\"print(\\\"\xC3\xA9\\\")\\n\",\"context\":{\"language\":\"python\"}}");
  EXPECT_EQ(seen.options.deadline, TimePoint{} + 10min);
  EXPECT_EQ(seen.options.idle_timeout, 60s);
}

TEST_F(OpenSandboxRunTest, ABareIdIsResolvedFirst) {
  options_.api_key = "key";
  script().Then(Reply(200, R"({"endpoint":"e:1/proxy/44772/","headers":{"A":"b"}})")).Then(Streams({{kInit}, {kDone}}));
  RunCodeRequest request;
  request.language = "bash";
  ASSERT_THAT(provider().RunCode("sb-1", request), IsOk());
  EXPECT_THAT(script().lines(), ElementsAre(kGetEndpoint, "POST http://e:1/proxy/44772/code"));
  const auto seen = script().seen();
  EXPECT_EQ(FindHeader(seen[0].request.headers, "OPEN-SANDBOX-API-KEY"), "key");
  EXPECT_EQ(FindHeader(seen[1].request.headers, "OPEN-SANDBOX-API-KEY"), std::nullopt);
  EXPECT_EQ(FindHeader(seen[1].request.headers, "A"), "b");
  EXPECT_THAT(seen[1].request.body, HasSubstr(R"("language":"bash")"));
}

TEST_F(OpenSandboxRunTest, AnUnknownBareIdFailsFast) {
  script().Then(Reply(404, "{}")).Then(Reply(404, ErrorJson("DOCKER::SANDBOX_NOT_FOUND", "Sandbox sb-1 not found.")));
  EXPECT_THAT(provider().RunCode("sb-1", {}),
              FailsWith(ErrorKind::kSandboxGone,
                        AllOf(Field(&Error::sandbox_id, "sb-1"), Field(&Error::code, "DOCKER::SANDBOX_NOT_FOUND"))));
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(OpenSandboxRunTest, CodeThatRaisesIsASuccessWithAnError) {
  script().Then(Streams(
      {{kInit}, {kDone}, {"{\"type\":\"error\",\"error\":{\"ename\":\"ValueError\",\"evalue\":\"bad\"}}\n\n"}}));
  const Result<CodeExecutionResult> result = Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->error->name, "ValueError");
}

TEST_F(OpenSandboxRunTest, AnErrorEventAloneEndsARun) {
  script().Then(Streams({{kInit}, {"{\"type\":\"error\",\"error\":{\"ename\":\"E\"}}\n\n"}}));
  EXPECT_THAT(Run(), IsOk());
  EXPECT_EQ(script().seen().size(), 1u);
}

TEST_F(OpenSandboxRunTest, TheBareErrorObjectEndsARun) {
  script().Then(Streams({{kInit}, {"{\"code\":\"RUNTIME_ERROR\",\"message\":\"session is busy\"}"}}));
  const Result<CodeExecutionResult> result = Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(*result->error, (ExecutionError{"RUNTIME_ERROR", "session is busy", {}}));
}

TEST_F(OpenSandboxRunTest, ACleanEndWithoutCompletionIsTruncation) {
  script().Then(Streams({{kInit}, {Out("a")}, {Out("b")}})).Then(State("Running"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kStreamTruncated,
                               AllOf(Partial("ab"), Field(&Error::message, HasSubstr("without its completion event")),
                                     Field(&Error::sandbox_id, "sb-1"), Field(&Error::outcome, Outcome::kHappened),
                                     Field(&Error::state, "Running"), Field(&Error::operation, "runCode"))));
  EXPECT_THAT(script().lines(), ElementsAre(kPostCode, kGetState));
}

TEST_F(OpenSandboxRunTest, ACutInsideAnEventKeepsItsTextSoFar) {
  script().Then(Streams({{kInit}, {Out("a")}, {"{\"type\":\"stdout\",\"text\":\"b\xE2\x82"}}, End::kCut));
  script().Then(State("Running"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kStreamTruncated, Partial("ab")));
}

TEST_F(OpenSandboxRunTest, ACutBehindTheCompletionKeepsTheResult) {
  for (const bool terminated : {true, false}) {
    const std::string done = terminated ? kDone : "{\"type\":\"execution_complete\"}";
    script().Then(Streams({{kInit}, {Out("a")}, {done}}, End::kCut));
    const Result<CodeExecutionResult> result = Run();
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->stdout_text, "a");
    EXPECT_FALSE(result->truncated);
    EXPECT_TRUE(result->cut_after_completion);
  }
}

TEST_F(OpenSandboxRunTest, AnEmptyStreamIsTruncationThatSaysSo) {
  for (const char* body : {"", "\n\n: comment\n"}) {
    script().Then(Streams({{body}})).Then(State("Running"));
    EXPECT_THAT(Run(), FailsWith(ErrorKind::kStreamTruncated, AllOf(Field(&Error::message, HasSubstr("empty")),
                                                                    Field(&Error::outcome, Outcome::kUnknown))));
  }
}

TEST_F(OpenSandboxRunTest, ASuccessThatIsNoEventStreamIsAProtocolError) {
  Exchange html = Streams({{"<html>\nhello\n</html>"}});
  html.headers = {{"Content-Type", "text/html"}};
  script().Then(html).Then(State("Running"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kProtocol, Field(&Error::message, HasSubstr("text/html"))));
}

TEST_F(OpenSandboxRunTest, AJsonErrorUnderA200IsTheResultsError) {
  script().Then(Reply(200, ErrorJson("RUNTIME_ERROR", "boom")));
  const Result<CodeExecutionResult> result = Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->error->value, "boom");
}

// --- output cap -----------------------------------------------------------------------------------------------------

TEST_F(OpenSandboxRunTest, OverTheCapClosesKeepsAndInterrupts) {
  SandboxHandle handle = Handle();
  handle.execd_headers = {{"X-T", "t"}};
  script().Then(Streams({{kInit}, {Out("12345")}, {"{\"type\":\"stdout\",\"text\":\"67890"}, {"1"}, {"never"}}));
  script().Then(Reply(200, ""));
  RunCodeRequest request;
  request.output_bytes_max = 10;
  EXPECT_THAT(provider().RunCode(handle, request),
              FailsWith(ErrorKind::kOutputLimit,
                        AllOf(Field(&Error::message,
                                    "Sandbox output exceeded 10 bytes; aborting to avoid unbounded memory use."),
                              Partial("1234567890"), Field(&Error::outcome, Outcome::kHappened))));
  EXPECT_THAT(script().lines(), ElementsAre(kPostCode, "DELETE http://execd.example:44772/code?id=ctx%201"));
  EXPECT_TRUE(script().seen()[0].stopped_by_handler);
  EXPECT_THAT(script().seen()[1].request.headers, ElementsAre(HeaderField{"X-T", "t"}));
}

TEST_F(OpenSandboxRunTest, TheDefaultCapIsTenMebibytesExactly) {
  const std::string at_cap(10485760, 'x');
  script().Then(Streams({{kInit}, {Out(at_cap)}, {kDone}}));
  const Result<CodeExecutionResult> whole = Run();
  ASSERT_THAT(whole, IsOk());
  EXPECT_EQ(whole->stdout_text.size(), 10485760u);
  script().Then(Streams({{kInit}, {Out(at_cap + "x")}, {kDone}})).Then(Reply(200, ""));
  EXPECT_THAT(Run(),
              FailsWith(ErrorKind::kOutputLimit,
                        Field(&Error::message,
                              "Sandbox output exceeded 10485760 bytes; aborting to avoid unbounded memory use.")));
}

TEST_F(OpenSandboxRunTest, AnInterruptThatIsNeverAnsweredDelaysLittle) {
  script().Then(Streams({{kInit}, {Out("12345678901")}})).Then(NeverAnswers());
  RunCodeRequest request;
  request.output_bytes_max = 10;
  EXPECT_THAT(Run(request), FailsWith(ErrorKind::kOutputLimit));
  EXPECT_EQ(Elapsed(), 2s);
}

TEST_F(OpenSandboxRunTest, WithoutAnExecutionIdNothingIsInterrupted) {
  script().Then(Streams({{Out("12345678901")}}));
  RunCodeRequest request;
  request.output_bytes_max = 10;
  EXPECT_THAT(Run(request), FailsWith(ErrorKind::kOutputLimit));
  EXPECT_EQ(script().seen().size(), 1u);
}

// --- clocks ---------------------------------------------------------------------------------------------------------

TEST_F(OpenSandboxRunTest, SilenceEndsAtTheIdleTimeout) {
  script().Then(Streams({{kInit}, {Out("a"), 5s}}, End::kSilence)).Then(Reply(200, "")).Then(State("Running"));
  RunCodeRequest request;
  request.idle_timeout = 7s;
  EXPECT_THAT(Run(request),
              FailsWith(ErrorKind::kTimeout,
                        AllOf(Field(&Error::timeout_clock, TimeoutClock::kIdle), Partial("a"),
                              Field(&Error::message, "OpenSandbox run in sandbox sb-1 sent nothing for 7.0 seconds"))));
  EXPECT_EQ(Elapsed(), 12s);
  EXPECT_THAT(script().lines(), ElementsAre(kPostCode, "DELETE http://execd.example:44772/code?id=ctx%201", kGetState));
}

TEST_F(OpenSandboxRunTest, PingsKeepTheStreamAliveButNotBeyondTheRunDeadline) {
  std::vector<Piece> pieces = {{kInit}};
  for (int i = 0; i < 100; ++i) pieces.push_back({kPing, 3s});
  script().Then(Streams(pieces, End::kSilence)).Then(Reply(200, "")).Then(State("Running"));
  RunCodeRequest request;
  request.idle_timeout = 4s;
  request.run_deadline = 60s;
  EXPECT_THAT(
      Run(request),
      FailsWith(ErrorKind::kTimeout,
                AllOf(Field(&Error::timeout_clock, TimeoutClock::kRunDeadline), Partial(""),
                      Field(&Error::message, "OpenSandbox run in sandbox sb-1 did not end within 60.0 seconds"))));
  EXPECT_EQ(Elapsed(), 60s);
}

TEST_F(OpenSandboxRunTest, NoAnswerAtAllEndsAtTheRunDeadline) {
  options_.idle_timeout = std::nullopt;
  script().Then(NeverAnswers()).Then(State("Running"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kTimeout, AllOf(Field(&Error::timeout_clock, TimeoutClock::kRunDeadline),
                                                          Field(&Error::outcome, Outcome::kUnknown))));
  EXPECT_EQ(Elapsed(), 10min);
}

TEST_F(OpenSandboxRunTest, TheRunDeadlineCoversTheEndpointWaitToo) {
  script().Otherwise([this](const HttpRequest& request) {
    return request.url == kGetState + 4 ? State("Running") : Reply(404, "{}");
  });
  RunCodeRequest request;
  request.run_deadline = 3s;
  EXPECT_THAT(provider().RunCode("sb-1", request),
              FailsWith(ErrorKind::kTimeout, Field(&Error::timeout_clock, TimeoutClock::kRunDeadline)));
  EXPECT_EQ(Elapsed(), 3s);
}

TEST_F(OpenSandboxRunTest, TheEndpointWaitHasItsOwnTimeoutAndText) {
  script().Otherwise([this](const HttpRequest& request) {
    return request.url == kGetState + 4 ? State("Running") : Reply(404, "{}");
  });
  EXPECT_THAT(provider().RunCode("sb-1", {}),
              FailsWith(ErrorKind::kTimeout,
                        AllOf(Field(&Error::timeout_clock, TimeoutClock::kReady),
                              Field(&Error::message,
                                    "OpenSandbox execd endpoint for sb-1 was not ready within 30.0 seconds"))));
}

TEST_F(OpenSandboxRunTest, AStreamThatStaysOpenBehindItsCompletionEndsAfterTheGrace) {
  std::vector<Piece> pieces = {{kInit}, {Out("a")}, {kDone}, {Out("late"), 200ms}};
  for (int i = 0; i < 100; ++i) pieces.push_back({kPing, 3s});
  script().Then(Streams(pieces, End::kSilence));
  const Result<CodeExecutionResult> result = Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->stdout_text, "alate");
  EXPECT_TRUE(result->cut_after_completion);
  EXPECT_LT(Elapsed(), 15s);
}

TEST_F(OpenSandboxRunTest, SilenceBehindTheCompletionIsStillASuccess) {
  script().Then(Streams({{kInit}, {kDone}}, End::kSilence));
  const Result<CodeExecutionResult> result = Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->cut_after_completion);
}

TEST_F(OpenSandboxRunTest, CancellationIsImmediateAndKeepsTheOutput) {
  std::stop_source source;
  Exchange stream = Streams({{kInit}, {Out("a")}}, End::kSilence);
  script().Then(stream);
  Exchange interrupt = NeverAnswers();
  script().Then(interrupt);
  std::jthread canceller([&] {
    // The stream is silent for ever once the pieces are read: then the virtual clock stands at the idle timeout's wait.
    while (script().seen().empty()) std::this_thread::yield();
    source.request_stop();
  });
  RunCodeRequest request;
  request.stop = source.get_token();
  request.idle_timeout = std::nullopt;
  options_.idle_timeout = std::nullopt;
  options_.run_deadline = std::nullopt;
  const Result<CodeExecutionResult> result = Run(request);
  EXPECT_THAT(result, FailsWith(ErrorKind::kCancelled, Field(&Error::sandbox_id, "sb-1")));
  EXPECT_LE(Elapsed(), 100ms);
}

TEST_F(OpenSandboxRunTest, CancelledBeforeTheStartSendsNothing) {
  std::stop_source source;
  source.request_stop();
  RunCodeRequest request;
  request.stop = source.get_token();
  EXPECT_THAT(Run(request), FailsWith(ErrorKind::kCancelled));
  EXPECT_THAT(provider().RunCode("sb-1", request), FailsWith(ErrorKind::kCancelled));
  EXPECT_THAT(script().lines(), IsEmpty());
}

// --- endpoints that moved, requests that never left -----------------------------------------------------------------

TEST_F(OpenSandboxRunTest, AnOldEndpointIsResolvedAnewOnRefusalAndOn404) {
  for (const auto& failure : {Refused(), Reply(404, "404 page not found")}) {
    options_.transport = transport_ = std::make_shared<ScriptedTransport>();
    script().Then(failure).Then(Reply(200, EndpointJson("new.example:2"))).Then(Streams({{kInit}, {kDone}}));
    EXPECT_THAT(MakeOpenSandboxProvider(options_)->RunCode(Handle(), {}), IsOk());
    EXPECT_THAT(script().lines(), ElementsAre(kPostCode, kGetEndpoint, "POST http://new.example:2/code"));
    EXPECT_EQ(Elapsed(), 0s);
  }
}

TEST_F(OpenSandboxRunTest, TheEndpointIsResolvedAnewOnlyOnce) {
  script().Then(Reply(404, "x")).Then(Reply(200, EndpointJson())).Then(Reply(404, ErrorJson("C", "m")));
  script().Then(State("Running"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kApi, AllOf(Field(&Error::http_status, 404), Field(&Error::code, "C"),
                                                      Field(&Error::state, "Running"))));
}

TEST_F(OpenSandboxRunTest, ARequestThatMayHaveArrivedIsNeverRepeated) {
  script().Then(Reset()).Then(State("Running"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kTransport,
                               AllOf(Field(&Error::outcome, Outcome::kUnknown), Field(&Error::attempts, 1))));
  for (const int status : {500, 502, 503, 504}) {
    script().Then(Reply(status, ErrorJson("C", "m"))).Then(State("Running"));
    EXPECT_THAT(Run(), FailsWith(ErrorKind::kApi, AllOf(Field(&Error::http_status, status), Field(&Error::attempts, 1),
                                                        Field(&Error::outcome, Outcome::kUnknown))));
  }
  EXPECT_EQ(script().left(), 0u);
}

TEST_F(OpenSandboxRunTest, UnsentAndRefusedRequestsAreRetriedByPolicy) {
  script().Then(Reply(429, "", {{"Retry-After", "2"}})).Then(Streams({{kInit}, {kDone}}));
  EXPECT_THAT(Run(), IsOk());
  EXPECT_EQ(Elapsed(), 2s);
  script().Then(Refused()).Then(Reply(200, EndpointJson())).Then(Refused()).Then(Streams({{kInit}, {kDone}}));
  EXPECT_THAT(Run(), IsOk());
  EXPECT_EQ(script().left(), 0u);
}

TEST_F(OpenSandboxRunTest, RefusalsOfTheDaemonAreKeptWordForWord) {
  script().Then(Reply(400, ErrorJson("INVALID_REQUEST_BODY", "error parsing request")));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kApi, AllOf(Field(&Error::code, "INVALID_REQUEST_BODY"),
                                                      Field(&Error::outcome, Outcome::kDidNotHappen))));
  script().Then(Reply(401, R"({"error":"Unauthorized: invalid or missing header X-EXECD-ACCESS-TOKEN"})"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kApi, Field(&Error::message, HasSubstr("Unauthorized"))));
  EXPECT_EQ(script().seen().size(), 2u);
}

TEST_F(OpenSandboxRunTest, AnEndlessErrorBodyIsCut) {
  Exchange endless = Reply(500, std::string(1 << 16, 'x'));
  endless.body.push_back({"never"});
  script().Then(endless).Then(State("Running"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kApi, Field(&Error::http_status, 500)));
  EXPECT_TRUE(script().seen()[0].stopped_by_handler);
}

TEST_F(OpenSandboxRunTest, ARedirectOfTheRunIsNotFollowed) {
  script().Then(Reply(307, "", {{"Location", "http://evil.example/code"}}));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kApi, Field(&Error::message, HasSubstr("http://evil.example"))));
  EXPECT_EQ(script().seen().size(), 1u);
}

// --- the sandbox ended during the run -------------------------------------------------------------------------------

TEST_F(OpenSandboxRunTest, EveryFaceOfADeadSandboxIsSandboxGone) {
  const std::vector<Exchange> faces = {Streams({{kInit}, {Out("a")}}),
                                       Streams({{kInit}, {Out("a")}}, End::kCut),
                                       Reset(),
                                       Reply(502, "Bad Gateway"),
                                       Reply(410, ""),
                                       Reply(500, "")};
  for (const Exchange& face : faces) {
    script().Then(face).Then(Reply(404, ErrorJson("DOCKER::SANDBOX_NOT_FOUND", "Sandbox sb-1 not found.")));
    EXPECT_THAT(Run(), FailsWith(ErrorKind::kSandboxGone,
                                 AllOf(Field(&Error::sandbox_id, "sb-1"), Field(&Error::operation, "runCode"))));
  }
  EXPECT_EQ(script().left(), 0u);
}

TEST_F(OpenSandboxRunTest, ADeadSandboxBehindASilentConnectionIsGoneToo) {
  script().Then(Streams({{kInit}, {Out("a")}}, End::kSilence)).Then(Refused()).Then(Reply(404, "{}"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kSandboxGone,
                               AllOf(Partial("a"), Field(&Error::timeout_clock, TimeoutClock::kNone))));
}

TEST_F(OpenSandboxRunTest, ATerminalStateIsToldWithReasonAndOutput) {
  script().Then(Streams({{kInit}, {Out("a")}}, End::kCut)).Then(Reply(503, "")).Then(State("Failed"));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kTerminalState,
                               AllOf(Field(&Error::message, "OpenSandbox sandbox sb-1 entered Failed"),
                                     Field(&Error::state_reason, "REASON"), Field(&Error::state_message, "words"),
                                     Partial("a"))));
}

TEST_F(OpenSandboxRunTest, ALookThatFailsLeavesTheErrorAsItIs) {
  script().Then(Streams({{kInit}}, End::kCut)).Then(Reply(401, ""));
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kStreamTruncated, Field(&Error::state, "")));
  script().Then(Streams({{kInit}}, End::kCut)).Then(NeverAnswers());
  EXPECT_THAT(Run(), FailsWith(ErrorKind::kStreamTruncated));
  EXPECT_EQ(Elapsed(), 5s);
}

}  // namespace
}  // namespace opensandbox

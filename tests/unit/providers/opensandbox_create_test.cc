// The waits of a create, and its clean-up.
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

const char kGet[] = "GET http://api.example/v1/sandboxes/sb-1";
const char kEndpoint[] = "GET http://api.example/v1/sandboxes/sb-1/endpoints/44772?use_server_proxy=false";
const char kDelete[] = "DELETE http://api.example/v1/sandboxes/sb-1";
const char kPost[] = "POST http://api.example/v1/sandboxes";

class OpenSandboxCreateTest : public ProviderTest {
 protected:
  ScriptedTransport& AfterPost(const std::string& state = "Pending") {
    return script().Then(Reply(202, SandboxJson("sb-1", state)));
  }
  Exchange State(const std::string& state) { return Reply(200, SandboxJson("sb-1", state, "REASON", "words")); }
  Exchange Ready() { return Reply(200, EndpointJson()); }
  Exchange Deleted() { return Reply(204, ""); }
  Result<SandboxHandle> Create(Duration ready_timeout = 30s) {
    CreateSandboxRequest request;
    request.ready_timeout = ready_timeout;
    return provider().CreateSandbox(request);
  }
  static auto Clean() { return Field(&Error::cleanup, Cleanup::kDeleted); }
};

TEST_F(OpenSandboxCreateTest, PendingThenRunningPausesExactlyOnce) {
  AfterPost().Then(State("Pending")).Then(State("Running")).Then(Ready());
  ASSERT_THAT(Create(), IsOk());
  EXPECT_THAT(script().lines(), ElementsAre(kPost, kGet, kGet, kEndpoint));
  EXPECT_EQ(Elapsed(), 200ms);
}

TEST_F(OpenSandboxCreateTest, PausesGrowUpToTheirMaximum) {
  AfterPost();
  for (int i = 0; i < 9; ++i) script().Then(State("Pending"));
  script().Then(State("Running")).Then(Ready());
  ASSERT_THAT(Create(), IsOk());
  std::vector<Duration> pauses;
  const auto seen = script().seen();
  for (std::size_t i = 2; i <= 10; ++i) pauses.push_back(seen[i].at - seen[i - 1].at);
  EXPECT_THAT(pauses, ElementsAre(200ms, 300ms, 450ms, 675ms, 1012500us, 1518750us, 2s, 2s, 2s));
}

TEST_F(OpenSandboxCreateTest, ThePollIntervalIsTheCallers) {
  AfterPost().Then(State("Pending")).Then(State("Running")).Then(Ready());
  CreateSandboxRequest request;
  request.poll_interval = 3s;
  ASSERT_THAT(provider().CreateSandbox(request), IsOk());
  EXPECT_EQ(Elapsed(), 3s);
}

TEST_F(OpenSandboxCreateTest, EachTerminalStateStopsAndIsCleanedUp) {
  for (const char* state : {"Failed", "Stopping", "Terminated"}) {
    AfterPost().Then(State("Pending")).Then(State(state)).Then(Deleted());
    EXPECT_THAT(Create(),
                FailsWith(ErrorKind::kTerminalState,
                          AllOf(Field(&Error::message, std::string("OpenSandbox sandbox sb-1 entered ") + state),
                                Field(&Error::sandbox_id, "sb-1"), Field(&Error::state, state),
                                Field(&Error::state_reason, "REASON"), Field(&Error::state_message, "words"),
                                Field(&Error::outcome, Outcome::kHappened), Clean())));
    EXPECT_EQ(script().lines().back(), kDelete);
  }
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
}

TEST_F(OpenSandboxCreateTest, RunningIsLookedForBeforeTheDeadlineIs) {
  // With a timeout of 0 exactly one look is made, and a good one counts.
  AfterPost().Then(State("Running")).Then(Ready());
  EXPECT_THAT(Create(0s), IsOk());
  AfterPost().Then(State("Pending")).Then(Deleted());
  EXPECT_THAT(
      Create(0s),
      FailsWith(ErrorKind::kTimeout,
                AllOf(Field(&Error::message, "OpenSandbox sandbox sb-1 was not Running within 0.0 seconds"),
                      Field(&Error::timeout_clock, TimeoutClock::kReady), Field(&Error::attempts, 1), Clean())));
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(OpenSandboxCreateTest, UnknownAndPausedStatesKeepPollingAndAreNamed) {
  for (const char* state : {"Paused", "Allocated", "running", ""}) {
    options_.transport = transport_ = std::make_shared<ScriptedTransport>();
    AfterPost();
    script().Otherwise(
        [this, state](const HttpRequest& request) { return request.method == "DELETE" ? Deleted() : State(state); });
    const Result<SandboxHandle> result = MakeOpenSandboxProvider(options_)->CreateSandbox({});
    EXPECT_THAT(result,
                FailsWith(ErrorKind::kTimeout,
                          AllOf(Field(&Error::message, "OpenSandbox sandbox sb-1 was not Running within 30.0 seconds"),
                                Field(&Error::state, state), Field(&Error::timeout_clock, TimeoutClock::kReady),
                                Field(&Error::sandbox_id, "sb-1"), Clean())));
    EXPECT_EQ(Elapsed(), 30s);
    // The last look came just before the end, and nothing was asked behind it but the delete.
    const auto seen = script().seen();
    EXPECT_EQ(seen[seen.size() - 2].at, 29900ms);
    EXPECT_EQ(seen.back().Line(), kDelete);
  }
}

TEST_F(OpenSandboxCreateTest, OneDeadlineCoversBothWaits) {
  AfterPost();
  for (int i = 0; i < 3; ++i) script().Then(State("Pending"));
  script().Then(State("Running"));
  script().Otherwise([this](const HttpRequest& request) {
    if (request.method == "DELETE") return Deleted();
    if (request.url.find("/endpoints/") == std::string::npos) return State("Running");
    return Reply(404, ErrorJson("KUBERNETES::POD_IP_NOT_AVAILABLE", "no ip"));
  });
  EXPECT_THAT(
      Create(10s),
      FailsWith(ErrorKind::kTimeout,
                AllOf(Field(&Error::message, "OpenSandbox execd endpoint for sb-1 was not ready within 10.0 seconds"),
                      Field(&Error::http_status, 404), Field(&Error::code, "KUBERNETES::POD_IP_NOT_AVAILABLE"),
                      Field(&Error::operation, "getEndpoint"), Clean())));
  EXPECT_EQ(Elapsed(), 10s);
}

TEST_F(OpenSandboxCreateTest, AnAnswerDelayedPastTheDeadlineIsNotWaitedFor) {
  AfterPost().Then(LateReply(11s, 200, SandboxJson("sb-1", "Running"))).Then(Deleted());
  EXPECT_THAT(Create(10s),
              FailsWith(ErrorKind::kTimeout, AllOf(Field(&Error::timeout_clock, TimeoutClock::kReady), Clean())));
  EXPECT_EQ(Elapsed(), 10s);
  EXPECT_EQ(script().seen()[1].options.deadline, TimePoint{} + 10s);
}

TEST_F(OpenSandboxCreateTest, OnePollMayNotOutlastTheRequestTimeout) {
  options_.request_timeout = 2s;
  AfterPost().Then(NeverAnswers()).Then(State("Running")).Then(Ready());
  EXPECT_THAT(Create(), IsOk());
  EXPECT_EQ(Elapsed(), 2200ms);
}

struct PollCase {
  const char* name;
  int status;
  const char* body;
  ErrorKind kind;
};
void PrintTo(const PollCase& row, std::ostream* out) { *out << row.name; }
class FatalPollTest : public OpenSandboxCreateTest, public ::testing::WithParamInterface<PollCase> {};

TEST_P(FatalPollTest, StopsAtOnceAndCleansUp) {
  AfterPost().Then(Reply(GetParam().status, GetParam().body)).Then(Deleted());
  EXPECT_THAT(Create(), FailsWith(GetParam().kind, AllOf(Field(&Error::http_status, GetParam().status),
                                                         Field(&Error::sandbox_id, "sb-1"),
                                                         Field(&Error::operation, "getSandbox"), Clean())));
  EXPECT_THAT(script().lines(), ElementsAre(kPost, kGet, kDelete));
  EXPECT_EQ(Elapsed(), 0s);
}

const PollCase kFatalPolls[] = {{"Unauthorized", 401, "{}", ErrorKind::kApi},
                                {"Forbidden", 403, "{}", ErrorKind::kApi},
                                {"Gone", 404, "{}", ErrorKind::kSandboxGone},
                                {"Conflict", 409, "{}", ErrorKind::kApi},
                                {"Redirect", 302, "", ErrorKind::kApi},
                                {"NotImplemented", 501, "", ErrorKind::kApi},
                                {"Html", 200, "<html>", ErrorKind::kProtocol},
                                {"Empty", 200, "", ErrorKind::kProtocol},
                                {"CutJson", 200, "{\"id\":", ErrorKind::kProtocol},
                                {"List", 200, "[]", ErrorKind::kProtocol}};
INSTANTIATE_TEST_SUITE_P(OpenSandboxCreate, FatalPollTest, ::testing::ValuesIn(kFatalPolls),
                         [](const auto& test) { return test.param.name; });

class TransientPollTest : public OpenSandboxCreateTest, public ::testing::WithParamInterface<PollCase> {};

TEST_P(TransientPollTest, IsTriedAgain) {
  Exchange failure = GetParam().status == 0 ? Reset() : Reply(GetParam().status, GetParam().body);
  AfterPost().Then(failure).Then(State("Running")).Then(failure).Then(Ready());
  EXPECT_THAT(Create(), IsOk());
  EXPECT_THAT(script().lines(), ElementsAre(kPost, kGet, kGet, kEndpoint, kEndpoint));
  EXPECT_EQ(Elapsed(), 400ms);
}

const PollCase kTransientPolls[] = {
    {"Busy", 429, "{}", ErrorKind::kApi},           {"Server", 500, "Internal Server Error", ErrorKind::kApi},
    {"Gateway", 502, "<html>", ErrorKind::kApi},    {"Unavailable", 503, "", ErrorKind::kApi},
    {"GatewayTimeout", 504, "{}", ErrorKind::kApi}, {"Reset", 0, "", ErrorKind::kTransport}};
INSTANTIATE_TEST_SUITE_P(OpenSandboxCreate, TransientPollTest, ::testing::ValuesIn(kTransientPolls),
                         [](const auto& test) { return test.param.name; });

TEST_F(OpenSandboxCreateTest, PollsHonourRetryAfterAndBackOff) {
  AfterPost()
      .Then(Reply(503, "", {{"Retry-After", "3"}}))
      .Then(Reply(503, ""))
      .Then(Reply(503, ""))
      .Then(State("Running"))
      .Then(Ready());
  ASSERT_THAT(Create(), IsOk());
  const auto seen = script().seen();
  EXPECT_EQ(seen[2].at, 3s);
  EXPECT_EQ(seen[3].at, 3400ms);
  EXPECT_EQ(seen[4].at, 4200ms);
}

TEST_F(OpenSandboxCreateTest, AnOutageUpToTheDeadlineIsTheTimeoutWithItsCause) {
  AfterPost().Then(State("Pending"));
  script().Otherwise([this](const HttpRequest& request) {
    return request.method == "DELETE" ? Deleted() : Reply(502, ErrorJson("BAD", "gateway"));
  });
  EXPECT_THAT(Create(),
              FailsWith(ErrorKind::kTimeout, AllOf(Field(&Error::http_status, 502), Field(&Error::code, "BAD"),
                                                   Field(&Error::state, "Pending"), Clean())));
  EXPECT_EQ(Elapsed(), 30s);
}

TEST_F(OpenSandboxCreateTest, TheEndpointIsAskedForUntilItIsThere) {
  AfterPost("Running")
      .Then(Reply(404, "{}"))
      .Then(Reply(200, "{}"))
      .Then(Reply(200, R"({"endpoint":""})"))
      .Then(Reply(200, R"({"endpoint":null})"))
      .Then(Ready());
  ASSERT_THAT(Create(), IsOk());
  EXPECT_THAT(script().lines(), ElementsAre(kPost, kEndpoint, kEndpoint, kEndpoint, kEndpoint, kEndpoint));
  EXPECT_EQ(Elapsed(), 200ms + 300ms + 450ms + 675ms);
}

TEST_F(OpenSandboxCreateTest, EndpointRefusalsStopAtOnce) {
  for (const auto& [status, body, kind] :
       {std::tuple{401, "{}", ErrorKind::kApi}, std::tuple{403, "{}", ErrorKind::kApi},
        std::tuple{400, "{}", ErrorKind::kApi}, std::tuple{200, "<html>", ErrorKind::kProtocol},
        std::tuple{200, "[]", ErrorKind::kProtocol}}) {
    AfterPost("Running").Then(Reply(status, body)).Then(Deleted());
    EXPECT_THAT(Create(), FailsWith(kind, AllOf(Field(&Error::operation, "getEndpoint"), Clean()))) << status << body;
  }
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(OpenSandboxCreateTest, ASandboxThatFailsDuringTheEndpointWaitEndsIt) {
  AfterPost("Running");
  for (int i = 0; i < 5; ++i) script().Then(Reply(404, "{}"));
  script().Then(State("Failed")).Then(Deleted());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kTerminalState, AllOf(Field(&Error::state_reason, "REASON"), Clean())));
  EXPECT_LT(Elapsed(), 5s);
}

TEST_F(OpenSandboxCreateTest, TheProbeWaitsForExecd) {
  options_.probe_execd = true;
  AfterPost("Running")
      .Then(Reply(200, R"({"endpoint":"e:1","headers":{"X-T":"t"}})"))
      .Then(Refused())
      .Then(Reply(502, ""))
      .Then(Reply(200, ""));
  ASSERT_THAT(Create(), IsOk());
  EXPECT_EQ(script().lines().back(), "GET http://e:1/ping");
  EXPECT_THAT(script().seen().back().request.headers, ElementsAre(HeaderField{"X-T", "t"}));
}

TEST_F(OpenSandboxCreateTest, AProbeThatIsNeverAnsweredCountsAgainstTheSameDeadline) {
  options_.probe_execd = true;
  AfterPost("Running").Then(Ready()).Then(NeverAnswers()).Then(Deleted());
  EXPECT_THAT(
      Create(5s),
      FailsWith(ErrorKind::kTimeout,
                AllOf(Field(&Error::timeout_clock, TimeoutClock::kReady),
                      Field(&Error::message, "OpenSandbox execd of sb-1 did not answer within 5.0 seconds"), Clean())));
  EXPECT_EQ(Elapsed(), 5s);
}

TEST_F(OpenSandboxCreateTest, AFailedCleanUpIsToldAndNeverLost) {
  AfterPost().Then(State("Failed"));
  script().Otherwise([](const HttpRequest&) { return Reply(500, ErrorJson("X", "engine down")); });
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kTerminalState,
                                  AllOf(Field(&Error::cleanup, Cleanup::kFailed), Field(&Error::sandbox_id, "sb-1"),
                                        Field(&Error::cleanup_message, "engine down"))));
  ASSERT_EQ(leaks_.Leaks().size(), 1u);
  EXPECT_EQ(leaks_.Leaks()[0].sandbox_id, "sb-1");
  EXPECT_EQ(leaks_.Leaks()[0].metadata_tag, SentTag());
}

TEST_F(OpenSandboxCreateTest, ACleanUpThatFindsNothingIsDone) {
  AfterPost().Then(Reply(404, "{}")).Then(Reply(404, "{}"));
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kSandboxGone, Clean()));
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
}

TEST_F(OpenSandboxCreateTest, ACleanUpIsBoundedByItsOwnDeadline) {
  AfterPost().Then(State("Failed")).Then(NeverAnswers()).Then(NeverAnswers());
  EXPECT_THAT(Create(), FailsWith(ErrorKind::kTerminalState, Field(&Error::cleanup, Cleanup::kFailed)));
  EXPECT_EQ(Elapsed(), 25s);
}

// --- cancellation ---------------------------------------------------------------------------------------------------

TEST_F(OpenSandboxCreateTest, CancelledBeforeTheStartSendsNothing) {
  std::stop_source source;
  source.request_stop();
  CreateSandboxRequest request;
  request.stop = source.get_token();
  EXPECT_THAT(provider().CreateSandbox(request),
              FailsWith(ErrorKind::kCancelled, AllOf(Field(&Error::outcome, Outcome::kDidNotHappen),
                                                     Field(&Error::cleanup, Cleanup::kNotNeeded))));
  EXPECT_THAT(script().lines(), IsEmpty());
}

TEST_F(OpenSandboxCreateTest, CancelledInAPollStillCleansUp) {
  std::stop_source source;
  Exchange poll = NeverAnswers();
  poll.before = [&source] { source.request_stop(); };
  AfterPost().Then(poll).Then(Deleted());
  CreateSandboxRequest request;
  request.stop = source.get_token();
  EXPECT_THAT(provider().CreateSandbox(request),
              FailsWith(ErrorKind::kCancelled, AllOf(Field(&Error::sandbox_id, "sb-1"), Clean())));
  EXPECT_THAT(script().lines(), ElementsAre(kPost, kGet, kDelete));
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(OpenSandboxCreateTest, CancelledInAPauseStillCleansUp) {
  std::stop_source source;
  Exchange poll = State("Pending");
  poll.before = [&source] { source.request_stop(); };
  AfterPost().Then(poll).Then(Deleted());
  CreateSandboxRequest request;
  request.stop = source.get_token();
  EXPECT_THAT(provider().CreateSandbox(request), FailsWith(ErrorKind::kCancelled, Clean()));
  EXPECT_THAT(script().lines(), ElementsAre(kPost, kGet, kDelete));
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(OpenSandboxCreateTest, CancelledInTheEndpointWaitStillCleansUp) {
  std::stop_source source;
  Exchange endpoint = Reply(404, "{}");
  endpoint.before = [&source] { source.request_stop(); };
  AfterPost("Running").Then(endpoint).Then(Reply(500, "")).Then(Deleted());
  CreateSandboxRequest request;
  request.stop = source.get_token();
  EXPECT_THAT(provider().CreateSandbox(request), FailsWith(ErrorKind::kCancelled, Clean()));
  EXPECT_THAT(script().lines(), ElementsAre(kPost, kEndpoint, kDelete, kDelete));
}

TEST_F(OpenSandboxCreateTest, CancelledDuringThePostLooksForWhatItLeft) {
  std::stop_source source;
  Exchange post = NeverAnswers();
  post.before = [&source] { source.request_stop(); };
  script().Then(post).Then(Reply(200, ListJson({"sb-9"}, FirstTag()))).Then(Deleted());
  CreateSandboxRequest request;
  request.stop = source.get_token();
  EXPECT_THAT(provider().CreateSandbox(request),
              FailsWith(ErrorKind::kCancelled,
                        AllOf(Field(&Error::sandbox_id, "sb-9"), Clean(), Field(&Error::outcome, Outcome::kUnknown))));
  EXPECT_EQ(script().lines().back(), "DELETE http://api.example/v1/sandboxes/sb-9");
  EXPECT_EQ(Elapsed(), 0s);
}

}  // namespace
}  // namespace opensandbox

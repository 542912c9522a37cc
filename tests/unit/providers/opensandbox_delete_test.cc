#include "tests/unit/providers/provider_fixture.h"

namespace opensandbox {
namespace {

using namespace std::chrono_literals;
using namespace testing;  // NOLINT: this project's
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OpenSandboxDeleteTest : public ProviderTest {
 protected:
  Result<bool> Delete() { return provider().DeleteSandbox("sb-1", {}); }
};

TEST_F(OpenSandboxDeleteTest, AnySuccessIsTrueAndAnUnknownIdFalse) {
  script().Then(Reply(204, "")).Then(Reply(200, "{}")).Then(Reply(404, ErrorJson("X", "not found")));
  EXPECT_THAT(Delete(), IsOkAndHolds(true));
  EXPECT_THAT(Delete(), IsOkAndHolds(true));
  EXPECT_THAT(Delete(), IsOkAndHolds(false));
  EXPECT_THAT(script().lines(), Each("DELETE http://api.example/v1/sandboxes/sb-1"));
  EXPECT_THAT(script().seen()[0].request.body, IsEmpty());
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
}

TEST_F(OpenSandboxDeleteTest, ServerErrorsAreRetriedAsDelete) {
  script().Then(Reply(500, "")).Then(Reply(503, "", {{"Retry-After", "2"}})).Then(Reply(204, ""));
  EXPECT_THAT(Delete(), IsOkAndHolds(true));
  EXPECT_THAT(script().lines(),
              ElementsAre("DELETE http://api.example/v1/sandboxes/sb-1", "DELETE http://api.example/v1/sandboxes/sb-1",
                          "DELETE http://api.example/v1/sandboxes/sb-1"));
  EXPECT_EQ(script().seen()[1].at, 200ms);
  EXPECT_EQ(script().seen()[2].at, 2200ms);
}

TEST_F(OpenSandboxDeleteTest, GoneAfterAnUncertainAttemptCountsAsDeleted) {
  script().Then(Reset()).Then(Reply(404, ""));
  EXPECT_THAT(Delete(), IsOkAndHolds(true));
  script().Then(Reply(500, "")).Then(Reply(404, ""));
  EXPECT_THAT(Delete(), IsOkAndHolds(true));
  // These never reached it, or were refused.
  script().Then(Refused()).Then(Reply(404, ""));
  EXPECT_THAT(Delete(), IsOkAndHolds(false));
  script().Then(Reply(429, "")).Then(Reply(404, ""));
  EXPECT_THAT(Delete(), IsOkAndHolds(false));
}

TEST_F(OpenSandboxDeleteTest, AFailureNamesTheIdAndTellsTheSinkOnce) {
  for (int i = 0; i < 4; ++i) script().Then(Reply(500, ErrorJson("DOCKER::SANDBOX_DELETE_FAILED", "no")));
  EXPECT_THAT(Delete(), FailsWith(ErrorKind::kApi, AllOf(Field(&Error::sandbox_id, "sb-1"), Field(&Error::attempts, 4),
                                                         Field(&Error::code, "DOCKER::SANDBOX_DELETE_FAILED"),
                                                         Field(&Error::outcome, Outcome::kUnknown))));
  ASSERT_EQ(leaks_.Leaks().size(), 1u);
  EXPECT_EQ(leaks_.Leaks()[0].sandbox_id, "sb-1");
  EXPECT_EQ(leaks_.Leaks()[0].provider, "opensandbox");
  EXPECT_THAT(leaks_.Leaks()[0].reason, HasSubstr("DELETE_FAILED"));
  EXPECT_EQ(script().left(), 0u);
}

TEST_F(OpenSandboxDeleteTest, ACallerWhoReportsItselfSilencesTheSink) {
  script().Then(Reply(401, ""));
  DeleteSandboxRequest request;
  request.report_leak = false;
  EXPECT_THAT(provider().DeleteSandbox("sb-1", request), FailsWith(ErrorKind::kApi));
  EXPECT_THAT(leaks_.Leaks(), IsEmpty());
}

TEST_F(OpenSandboxDeleteTest, ARefusalIsNotRepeated) {
  for (const int status : {307, 400, 401, 403, 405, 409, 501}) {
    script().Then(Reply(status, ""));
    EXPECT_THAT(Delete(),
                FailsWith(ErrorKind::kApi, AllOf(Field(&Error::attempts, 1), Field(&Error::http_status, status))));
  }
  EXPECT_EQ(script().seen().size(), 7u);
}

TEST_F(OpenSandboxDeleteTest, AServerThatNeverAnswersIsAskedTwiceWithinTheDeadline) {
  script().Then(NeverAnswers()).Then(NeverAnswers()).Then(NeverAnswers());
  const Result<bool> result = Delete();
  EXPECT_THAT(result, FailsWith(ErrorKind::kTimeout,
                                AllOf(Field(&Error::sandbox_id, "sb-1"), Field(&Error::outcome, Outcome::kUnknown))));
  EXPECT_EQ(Elapsed(), 25s);
  EXPECT_EQ(script().seen().size(), 2u);
  EXPECT_EQ(leaks_.Leaks().size(), 1u);
}

TEST_F(OpenSandboxDeleteTest, TheCallsDeadlineBeatsTheProviders) {
  script().Then(NeverAnswers()).Then(NeverAnswers());
  DeleteSandboxRequest request;
  request.deadline = 3s;
  EXPECT_THAT(provider().DeleteSandbox("sb-1", request), FailsWith(ErrorKind::kTimeout));
  EXPECT_EQ(Elapsed(), 3s);
}

TEST_F(OpenSandboxDeleteTest, ARetryAfterBeyondTheDeadlineEndsTheAttempts) {
  script().Then(Reply(429, "", {{"Retry-After", "60"}}));
  EXPECT_THAT(Delete(), FailsWith(ErrorKind::kApi, Field(&Error::retry_after, std::optional<Duration>(60s))));
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(OpenSandboxDeleteTest, CancellationEndsThePauseAtOnce) {
  std::stop_source source;
  Exchange flaky = Reply(503, "", {{"Retry-After", "20"}});
  flaky.before = [&source] { source.request_stop(); };
  script().Then(flaky);
  DeleteSandboxRequest request;
  request.stop = source.get_token();
  EXPECT_THAT(provider().DeleteSandbox("sb-1", request),
              FailsWith(ErrorKind::kCancelled,
                        AllOf(Field(&Error::sandbox_id, "sb-1"), Field(&Error::outcome, Outcome::kUnknown))));
  EXPECT_EQ(Elapsed(), 0s);
  EXPECT_EQ(leaks_.Leaks().size(), 1u);
}

}  // namespace
}  // namespace opensandbox

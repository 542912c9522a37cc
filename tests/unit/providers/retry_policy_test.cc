#include "opensandbox/providers/retry_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace opensandbox {
namespace {

using namespace std::chrono_literals;

struct Decision {
  std::string name;
  ErrorKind kind;
  int status;
  Outcome outcome;
  TimeoutClock timeout_clock;
  bool idempotent;
  int attempts_made;
  bool expected;
};
void PrintTo(const Decision& row, std::ostream* out) { *out << row.name; }

class RetryDecisionTest : public ::testing::TestWithParam<Decision> {};

TEST_P(RetryDecisionTest, IsAsTheTableSays) {
  const Decision& row = GetParam();
  Error error;
  error.kind = row.kind;
  error.http_status = row.status;
  error.outcome = row.outcome;
  error.timeout_clock = row.timeout_clock;
  EXPECT_EQ(RetryPolicy{}.MayRetry(error, row.idempotent, row.attempts_made), row.expected);
}

constexpr auto kNo = Outcome::kDidNotHappen;
constexpr auto kMaybe = Outcome::kUnknown;
constexpr auto kNone = TimeoutClock::kNone;

INSTANTIATE_TEST_SUITE_P(
    RetryPolicy, RetryDecisionTest,
    ::testing::Values(
        Decision{"UnsentIsSafe", ErrorKind::kTransport, 0, kNo, kNone, false, 1, true},
        Decision{"ResetOfACreateIsNot", ErrorKind::kTransport, 0, kMaybe, kNone, false, 1, false},
        Decision{"ResetOfADeleteIs", ErrorKind::kTransport, 0, kMaybe, kNone, true, 1, true},
        Decision{"CutAnswerOfADelete", ErrorKind::kStreamTruncated, 0, kMaybe, kNone, true, 1, true},
        Decision{"ConnectTimeout", ErrorKind::kTimeout, 0, kNo, TimeoutClock::kConnect, false, 1, true},
        Decision{"RequestTimeoutOfACreate", ErrorKind::kTimeout, 0, kMaybe, TimeoutClock::kRequest, false, 1, false},
        Decision{"RequestTimeoutOfADelete", ErrorKind::kTimeout, 0, kMaybe, TimeoutClock::kRequest, true, 1, true},
        Decision{"ReadyTimeout", ErrorKind::kTimeout, 0, kNo, TimeoutClock::kReady, true, 1, false},
        Decision{"RunDeadline", ErrorKind::kTimeout, 0, kNo, TimeoutClock::kRunDeadline, true, 1, false},
        Decision{"IdleTimeout", ErrorKind::kTimeout, 0, kNo, TimeoutClock::kIdle, true, 1, false},
        Decision{"Refused429", ErrorKind::kApi, 429, kNo, kNone, false, 1, true},
        Decision{"Unsure503", ErrorKind::kApi, 503, kMaybe, kNone, false, 1, false},
        Decision{"Idempotent502", ErrorKind::kApi, 502, kMaybe, kNone, true, 1, true},
        Decision{"Idempotent503", ErrorKind::kApi, 503, kMaybe, kNone, true, 1, true},
        Decision{"Idempotent504", ErrorKind::kApi, 504, kMaybe, kNone, true, 1, true},
        Decision{"Idempotent500", ErrorKind::kApi, 500, kMaybe, kNone, true, 1, true},
        Decision{"Unsure500", ErrorKind::kApi, 500, kMaybe, kNone, false, 1, false},
        Decision{"NotImplemented501", ErrorKind::kApi, 501, kMaybe, kNone, true, 1, false},
        Decision{"Version505", ErrorKind::kApi, 505, kMaybe, kNone, true, 1, false},
        Decision{"Redirect307", ErrorKind::kApi, 307, kNo, kNone, true, 1, false},
        Decision{"BadRequest400", ErrorKind::kApi, 400, kNo, kNone, true, 1, false},
        Decision{"Unauthorized401", ErrorKind::kApi, 401, kNo, kNone, true, 1, false},
        Decision{"NotFound404", ErrorKind::kApi, 404, kNo, kNone, true, 1, false},
        Decision{"Conflict409", ErrorKind::kApi, 409, kNo, kNone, true, 1, false},
        Decision{"Cancelled", ErrorKind::kCancelled, 0, kNo, kNone, true, 1, false},
        Decision{"Protocol", ErrorKind::kProtocol, 200, kMaybe, kNone, true, 1, false},
        Decision{"InvalidArgument", ErrorKind::kInvalidArgument, 0, kNo, kNone, true, 1, false},
        Decision{"TerminalState", ErrorKind::kTerminalState, 0, kNo, kNone, true, 1, false},
        Decision{"SandboxGone", ErrorKind::kSandboxGone, 404, kNo, kNone, true, 1, false},
        Decision{"OutputLimit", ErrorKind::kOutputLimit, 0, kNo, kNone, true, 1, false},
        Decision{"OutcomeUnknown", ErrorKind::kOutcomeUnknown, 0, kMaybe, kNone, true, 1, false},
        Decision{"ThirdAttemptMade", ErrorKind::kApi, 503, kMaybe, kNone, true, 3, true},
        Decision{"FourthAttemptMade", ErrorKind::kApi, 503, kMaybe, kNone, true, 4, false},
        Decision{"FifthAttemptMade", ErrorKind::kApi, 503, kMaybe, kNone, true, 5, false}),
    [](const auto& test) { return test.param.name; });

TEST(RetryPolicyTest, OneAttemptMeansNever) {
  RetryPolicy policy;
  policy.attempts_max = 1;
  Error error;
  error.kind = ErrorKind::kTransport;
  EXPECT_FALSE(policy.MayRetry(error, true, 1));
}

TEST(RetryPolicyTest, PausesGrowToTheirMaximum) {
  RetryPolicy policy;
  policy.jitter = 0;
  SeededRandom random(1);
  const Error error;
  EXPECT_EQ(policy.PauseAfter(error, 1, random), 200ms);
  EXPECT_EQ(policy.PauseAfter(error, 2, random), 400ms);
  EXPECT_EQ(policy.PauseAfter(error, 5, random), 3200ms);
  EXPECT_EQ(policy.PauseAfter(error, 6, random), 5s);
  EXPECT_EQ(policy.PauseAfter(error, 100000, random), 5s);
}

TEST(RetryPolicyTest, JitterStaysInItsBandAndRepeatsWithTheSeed) {
  const RetryPolicy policy;
  SeededRandom one(7);
  SeededRandom same(7);
  bool differs = false;
  Duration first{0};
  for (int i = 0; i < 1000; ++i) {
    const Duration pause = policy.PauseAfter(Error{}, 1, one);
    EXPECT_GE(pause, 160ms);
    EXPECT_LE(pause, 240ms);
    EXPECT_EQ(pause, policy.PauseAfter(Error{}, 1, same));
    if (i == 0) first = pause;
    differs = differs || pause != first;
  }
  EXPECT_TRUE(differs);
}

TEST(RetryPolicyTest, RetryAfterReplacesThePauseUpToItsCap) {
  const RetryPolicy policy;
  SeededRandom random(1);
  Error error;
  error.retry_after = 3s;
  EXPECT_EQ(policy.PauseAfter(error, 1, random), 3s);
  error.retry_after = 0s;
  EXPECT_EQ(policy.PauseAfter(error, 1, random), 0s);
  error.retry_after = 30s;
  EXPECT_EQ(policy.PauseAfter(error, 1, random), 30s);
  error.retry_after = 31s;
  EXPECT_EQ(policy.PauseAfter(error, 1, random), 30s);
}

}  // namespace
}  // namespace opensandbox

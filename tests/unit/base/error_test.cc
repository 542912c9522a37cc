#include "opensandbox/base/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "opensandbox/base/result.h"

namespace opensandbox {
namespace {

using namespace std::chrono_literals;

TEST(ErrorTest, EveryEnumeratorHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(ErrorKind::kNotImplemented); ++i) {
    names.insert(ToString(static_cast<ErrorKind>(i)));
  }
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(names.count("unknown"), 0u);
  std::set<std::string_view> clocks;
  for (int i = 0; i <= static_cast<int>(TimeoutClock::kIdle); ++i)
    clocks.insert(ToString(static_cast<TimeoutClock>(i)));
  EXPECT_EQ(clocks.size(), 6u);
  EXPECT_EQ(ToString(Outcome::kDidNotHappen), "did not happen");
  EXPECT_EQ(ToString(Outcome::kHappened), "happened");
  EXPECT_EQ(ToString(Outcome::kUnknown), "unknown");
  EXPECT_EQ(ToString(Cleanup::kNotNeeded), "not needed");
  EXPECT_EQ(ToString(Cleanup::kDeleted), "deleted");
  EXPECT_EQ(ToString(Cleanup::kFailed), "failed");
}

TEST(ErrorTest, DescribeSaysEverythingThatIsSet) {
  Error error{.kind = ErrorKind::kTimeout, .message = "sandbox never became ready"};
  error.http_status = 503;
  error.code = "DOCKER::BUSY";
  error.request_id = "req-1";
  error.retry_after = 1500ms;
  error.attempts = 3;
  error.operation = "createSandbox";
  error.sandbox_id = "sb-1";
  error.outcome = Outcome::kUnknown;
  error.cleanup = Cleanup::kFailed;
  error.cleanup_message = "delete answered 500";
  error.timeout_clock = TimeoutClock::kReady;
  error.state = "Pending";
  error.state_reason = "Pulling";
  error.state_message = "image is large";
  EXPECT_EQ(error.Describe(),
            "timeout (ready): sandbox never became ready [operation=createSandbox, sandbox=sb-1, http_status=503, "
            "code=DOCKER::BUSY, request_id=req-1, retry_after=1.5s, attempts=3, outcome=unknown, cleanup=failed, "
            "cleanup_message=delete answered 500, state=Pending, state_reason=Pulling, state_message=image is large]");
}

TEST(ErrorTest, DescribeLeavesOutWhatIsNotSet) {
  EXPECT_EQ((Error{.kind = ErrorKind::kApi, .message = "no"}).Describe(), "api: no [outcome=did not happen]");
}

TEST(ErrorTest, DescribeIsOneLineWhateverTheProviderSent) {
  const Error error{.kind = ErrorKind::kApi, .message = "a\nb\r\x1b[31m", .code = "x\ny"};
  EXPECT_EQ(error.Describe(), "api: a b  [31m [code=x y, outcome=did not happen]");
}

TEST(ErrorTest, ValueOfAFailureThrowsTheError) {
  const Result<int> result = Error{.kind = ErrorKind::kApi, .message = "gone", .sandbox_id = "sb-1"};
  try {
    (void)result.value();
    FAIL() << "no exception";
  } catch (const ErrorException& exception) {
    EXPECT_EQ(exception.error().sandbox_id, "sb-1");
    EXPECT_EQ(exception.what(), exception.error().Describe());
  }
}

TEST(ResultTest, HoldsAValueOrAnError) {
  const Result<int> good = 3;
  const Result<int> bad = Error{.message = "no"};
  ASSERT_TRUE(good.has_value());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(*good, 3);
  EXPECT_EQ(good.value(), 3);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message, "no");
  EXPECT_EQ(bad.value_or(7), 7);
  EXPECT_EQ(good.value_or(7), 3);
}

TEST(ResultTest, ChainsStopAtTheFirstError) {
  const auto half = [](int value) -> Result<int> {
    if (value % 2 != 0) return Error{.message = "odd"};
    return value / 2;
  };
  EXPECT_EQ(Result<int>(8).and_then(half).and_then(half).value(), 2);
  EXPECT_EQ(Result<int>(6).and_then(half).and_then(half).error().message, "odd");
  EXPECT_EQ(Result<int>(6).transform([](int value) { return std::to_string(value); }).value(), "6");
  EXPECT_EQ(Result<int>(Error{.message = "no"}).transform([](int value) { return value; }).error().message, "no");
}

TEST(ResultTest, VoidIsASuccessUnlessItHoldsAnError) {
  const Result<void> good;
  const Result<void> bad = Error{.message = "no"};
  EXPECT_TRUE(good.has_value());
  EXPECT_NO_THROW(good.value());
  EXPECT_FALSE(bad.has_value());
  EXPECT_THROW(bad.value(), ErrorException);
}

}  // namespace
}  // namespace opensandbox

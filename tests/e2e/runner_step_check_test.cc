#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "emulator/runner/step_check.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TextPattern Pattern(const std::string& text) {
  TextPattern pattern;
  pattern.text = text;
  return pattern;
}

ClientStep RunStepExpecting(StepExpectation expect) {
  ClientStep step;
  step.action = RunStep{};
  step.expect = std::move(expect);
  return step;
}

StepOutcome Printed(const std::string& text) {
  StepOutcome outcome;
  outcome.execution.emplace();
  outcome.execution->stdout_text = text;
  return outcome;
}

StepOutcome FailedWith(ErrorKind kind) {
  StepOutcome outcome;
  outcome.error.emplace();
  outcome.error->kind = kind;
  outcome.error->message = "it went wrong";
  return outcome;
}

std::vector<std::string> CheckRun(const StepExpectation& expect, const StepOutcome& outcome) {
  return CheckStep(1, RunStepExpecting(expect), outcome);
}

TEST(StepCheckTest, SuccessIsExpectedUnlessAnErrorIsNamed) {
  EXPECT_THAT(CheckRun({}, Printed("x")), IsEmpty());
  EXPECT_THAT(CheckRun({}, FailedWith(ErrorKind::kTransport)),
              ElementsAre("step 2 (run): expected success, got error transport: \"it went wrong\""));
}

TEST(StepCheckTest, AnErrorThatDoesNotComeIsTold) {
  StepExpectation expect;
  expect.error = "outputLimit";
  EXPECT_THAT(CheckRun(expect, Printed("twelve bytes")),
              ElementsAre("step 2 (run): expected error outputLimit, got success with 12 bytes of stdout"));
  EXPECT_THAT(CheckRun(expect, FailedWith(ErrorKind::kOutputLimit)), IsEmpty());
}

TEST(StepCheckTest, AnotherErrorIsOneSentenceWithoutItsDetails) {
  StepExpectation expect;
  expect.error = "outputLimit";
  expect.outcome = "happened";
  expect.message = Pattern("something else");
  StepOutcome outcome = FailedWith(ErrorKind::kTimeout);
  outcome.error->timeout_clock = TimeoutClock::kIdle;
  outcome.error->http_status = 200;
  EXPECT_THAT(CheckRun(expect, outcome),
              ElementsAre("step 2 (run): expected error outputLimit, got error timeout (idle) with status 200: "
                          "\"it went wrong\""));
}

TEST(StepCheckTest, EveryDetailOfAnErrorIsCompared) {
  StepExpectation expect;
  expect.error = "terminalState";
  expect.message = Pattern("/Failed/");
  expect.timeout_clock = "ready";
  expect.outcome = "happened";
  expect.cleanup = "deleted";
  expect.state = "Failed";
  expect.reason = "ImagePullFailed";
  expect.state_message = "no such image";
  expect.http_status = 500;
  expect.attempts = 3;
  expect.names_sandbox = true;
  StepOutcome wrong = FailedWith(ErrorKind::kTerminalState);
  EXPECT_THAT(CheckRun(expect, wrong), SizeIs(10));

  StepOutcome right = wrong;
  right.error->message = "OpenSandbox sandbox x entered Failed";
  right.error->timeout_clock = TimeoutClock::kReady;
  right.error->outcome = Outcome::kHappened;
  right.error->cleanup = Cleanup::kDeleted;
  right.error->state = "Failed";
  right.error->state_reason = "ImagePullFailed";
  right.error->state_message = "no such image";
  right.error->http_status = 500;
  right.error->attempts = 3;
  right.error_names_sandbox = true;
  EXPECT_THAT(CheckRun(expect, right), IsEmpty());
}

TEST(StepCheckTest, DetailsWithoutAnErrorAreTold) {
  StepExpectation expect;
  expect.attempts = 2;
  EXPECT_THAT(CheckRun(expect, Printed("")),
              ElementsAre("step 2 (run): expected details of an error, got success with 0 bytes of stdout"));
}

TEST(StepCheckTest, OutputIsCompared) {
  StepExpectation expect;
  expect.stdout_text = Pattern("42\n");
  expect.stderr_text = Pattern("");
  expect.stdout_bytes = 3;
  expect.truncated = false;
  EXPECT_THAT(CheckRun(expect, Printed("42\n")), IsEmpty());
  StepOutcome outcome = Printed("43\n\n");
  outcome.execution->truncated = true;
  outcome.execution->stderr_text = "oh";
  EXPECT_THAT(CheckRun(expect, outcome),
              ElementsAre("step 2 (run): expected stdout that matches \"42\\n\", got \"43\\n\\n\"",
                          "step 2 (run): expected stderr that matches \"\", got \"oh\"",
                          "step 2 (run): expected 3 as bytes of stdout, got 4",
                          "step 2 (run): expected whole output, got it truncated"));
}

TEST(StepCheckTest, PartialOutputOfAFailureCounts) {
  StepExpectation expect;
  expect.error = "outputLimit";
  expect.stdout_bytes = 5;
  expect.truncated = true;
  StepOutcome outcome = FailedWith(ErrorKind::kOutputLimit);
  EXPECT_THAT(CheckRun(expect, outcome),
              ElementsAre("step 2 (run): expected output, got none but error outputLimit: \"it went wrong\""));
  CodeExecutionResult partial;
  partial.stdout_text = "12345";
  partial.truncated = true;
  outcome.error->partial_result = std::make_shared<const CodeExecutionResult>(partial);
  EXPECT_THAT(CheckRun(expect, outcome), IsEmpty());
}

TEST(StepCheckTest, ExceptionsAreComparedByName) {
  StepExpectation expect;
  expect.execution_error = "ValueError";
  StepOutcome outcome = Printed("");
  EXPECT_THAT(CheckRun(expect, outcome), ElementsAre("step 2 (run): expected exception \"ValueError\", got none"));
  outcome.execution->error = ExecutionError{"KeyError", "", {}};
  EXPECT_THAT(CheckRun(expect, outcome),
              ElementsAre("step 2 (run): expected exception \"ValueError\", got \"KeyError\""));
  outcome.execution->error->name = "ValueError";
  EXPECT_THAT(CheckRun(expect, outcome), IsEmpty());
}

TEST(StepCheckTest, DeletesCompareWhatTheyFound) {
  ClientStep step;
  step.action = DeleteStep{};
  step.expect.deleted = true;
  StepOutcome outcome;
  outcome.deleted = false;
  EXPECT_THAT(CheckStep(0, step, outcome),
              ElementsAre("step 1 (delete): expected deleted: true, got success (deleted: false)"));
  outcome.deleted = true;
  EXPECT_THAT(CheckStep(0, step, outcome), IsEmpty());
}

TEST(StepCheckTest, TimeLimitsIncludeTheirEnds) {
  StepExpectation expect;
  expect.within = 30s;
  expect.at_least = 10s;
  const auto check = [&](Duration took) {
    StepOutcome outcome = Printed("");
    outcome.took = took;
    return CheckRun(expect, outcome);
  };
  EXPECT_THAT(check(30s), IsEmpty());
  EXPECT_THAT(check(10s), IsEmpty());
  EXPECT_THAT(check(30s + 1ns), ElementsAre(HasSubstr("expected to take at most 30s, took 30000000001ns")));
  EXPECT_THAT(check(10s - 1ns), ElementsAre(HasSubstr("expected to take at least 10s, took 9999999999ns")));
}

TEST(StepCheckTest, LongTextIsCut) {
  StepExpectation expect;
  expect.stdout_text = Pattern("no");
  const auto sentences = CheckRun(expect, Printed(std::string(1000, 'x')));
  ASSERT_THAT(sentences, SizeIs(1));
  EXPECT_THAT(sentences[0], HasSubstr("xxx\" and 880 bytes more"));
}

TEST(StepCheckTest, EveryErrorKindHasItsWord) {
  const std::vector<std::pair<ErrorKind, std::string_view>> words = {{ErrorKind::kInvalidArgument, "invalidArgument"},
                                                                     {ErrorKind::kTransport, "transport"},
                                                                     {ErrorKind::kTimeout, "timeout"},
                                                                     {ErrorKind::kCancelled, "cancelled"},
                                                                     {ErrorKind::kApi, "api"},
                                                                     {ErrorKind::kProtocol, "protocol"},
                                                                     {ErrorKind::kTerminalState, "terminalState"},
                                                                     {ErrorKind::kOutputLimit, "outputLimit"},
                                                                     {ErrorKind::kStreamTruncated, "streamTruncated"},
                                                                     {ErrorKind::kOutcomeUnknown, "outcomeUnknown"},
                                                                     {ErrorKind::kSandboxGone, "sandboxGone"},
                                                                     {ErrorKind::kNotImplemented, "notImplemented"}};
  for (const auto& [kind, word] : words) EXPECT_EQ(Word(kind), word);
}

}  // namespace
}  // namespace opensandbox::emulator

#include "opensandbox/interception/tool_output.h"

#include "tests/unit/interception/fake_provider.h"

namespace opensandbox {
namespace {

using namespace testing;  // NOLINT: this project's
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

CodeExecutionResult Raised(std::string name, std::string value, std::vector<std::string> traceback = {},
                           std::string printed = "") {
  CodeExecutionResult result = Printed(std::move(printed));
  result.error = ExecutionError{std::move(name), std::move(value), std::move(traceback)};
  result.errors = {*result.error};
  return result;
}

std::string Contract(const CodeExecutionResult& result) {
  return ToolOutputText(result, {.style = ToolOutputStyle::kContract});
}

TEST(ToolOutputTest, PlainOutputIsTheOutput) {
  EXPECT_EQ(ToolOutputText(Printed("42\n")), "42\n");
  EXPECT_EQ(ToolOutputText(Printed("")), "");
}

TEST(ToolOutputTest, TheContractsStyleIsLitellmsText) {
  EXPECT_EQ(Contract(Printed("42\n")), "42\n");
  EXPECT_EQ(Contract(Raised("ValueError", "bad", {"t"}, "lost")), "[execution error] bad");
  EXPECT_EQ(Contract(Raised("ValueError", "")), "[execution error] ValueError");
  EXPECT_EQ(Contract(Raised("", "")), "[execution error] ");
}

TEST(ToolOutputTest, AllPartsAreToldInOrder) {
  CodeExecutionResult result =
      Raised("ValueError", "bad", {"Traceback:\n  line 1", "  line 2\nValueError: bad"}, "out");
  result.stderr_text = "warn\n";
  result.results = {{{"text/plain", "4"}, {"image/png", "AAAA"}}, {{"image/png", "AAAA"}}, {{"text", "5"}}};
  EXPECT_EQ(ToolOutputText(result),
            "out\n[stderr]\nwarn\n[result]\n4\n[result: image/png]\n[result]\n5\n[execution error] ValueError: bad\n"
            "Traceback:\n  line 1\n  line 2");
}

TEST(ToolOutputTest, AnExpressionWithoutPrintIsNotLost) {
  CodeExecutionResult result;
  result.results = {{{"text/plain", "4"}}};
  EXPECT_EQ(ToolOutputText(result), "[result]\n4");
}

TEST(ToolOutputTest, TracebacksLoseTheirColoursAndTheirFront) {
  std::string traceback;
  for (int i = 1; i <= 21; ++i) traceback += "\x1b[0;31mline " + std::to_string(i) + "\x1b[0m\n";
  const std::string text = ToolOutputText(Raised("E", "v", {traceback}));
  EXPECT_THAT(text, HasSubstr("... 1 lines of the traceback left out\nline 2\n"));
  EXPECT_THAT(text, EndsWith("line 21"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(ToolOutputTest, LongTextKeepsFrontAndEnd) {
  const ToolOutputOptions options{.bytes_max = 10};
  EXPECT_EQ(ToolOutputText(Printed("012345678"), options), "012345678");
  EXPECT_EQ(ToolOutputText(Printed("0123456789"), options), "0123456789");
  EXPECT_EQ(ToolOutputText(Printed("0123456789a"), options), "01234\n[... 1 bytes left out ...]\n6789a");
  EXPECT_EQ(ToolOutputText(Printed(std::string(1000, 'x')), options), "xxxxx\n[... 990 bytes left out ...]\nxxxxx");
}

TEST(ToolOutputTest, ShorteningSplitsNoCharacter) {
  const std::string text = ToolOutputText(Printed("\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4"), {.bytes_max = 6});
  EXPECT_EQ(text, "\xC3\xA4\n[... 4 bytes left out ...]\n\xC3\xA4");
}

TEST(ToolOutputTest, InvalidBytesOfAProviderAreRepaired) {
  EXPECT_EQ(ToolOutputText(Printed("a\xFF")), "a\xEF\xBF\xBD");
}

TEST(ToolOutputTest, AFailureKeepsTheOutputSoFar) {
  Error error = MakeError(ErrorKind::kOutputLimit);
  error.partial_result = std::make_shared<CodeExecutionResult>(Printed("half"));
  EXPECT_EQ(ToolOutputText(error), "half\n[sandbox error] the output was too large; the code was stopped");
}

TEST(ToolOutputTest, FailuresNameNoAddressKeyOrId) {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::kNotImplemented); ++kind) {
    Error error = MakeError(static_cast<ErrorKind>(kind), "http://10.0.0.1/ key-1 sb-1");
    error.sandbox_id = "sb-1";
    error.state_message = "10.0.0.1";
    const std::string text = ToolOutputText(error);
    EXPECT_THAT(text, StartsWith("[sandbox error] the ")) << kind;
    EXPECT_THAT(text, Not(HasSubstr("10.0.0.1")));
    EXPECT_THAT(text, Not(HasSubstr("sb-1")));
  }
}

TEST(ToolOutputTest, ATerminalStateIsToldWithItsReason) {
  Error error = MakeError(ErrorKind::kTerminalState);
  error.state = "Failed";
  error.state_reason = "ImagePullFailed";
  EXPECT_EQ(ToolOutputText(error), "[sandbox error] the sandbox entered Failed (ImagePullFailed)");
}

}  // namespace
}  // namespace opensandbox

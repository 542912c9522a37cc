#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/cmd/app.h"
#include "tests/cmd/child_process.h"

namespace opensandbox::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

std::ptrdiff_t Lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(UsageTest, HelpIsDataAndListsEveryCommand) {
  const ProgramResult result = RunProgram({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("\n  serve "), HasSubstr("\n  run "), HasSubstr("\n  check ")));
  EXPECT_THAT(result.out, HasSubstr("Example:\n"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(UsageTest, EveryCommandHasHelpWithAnExample) {
  for (const std::string command : {"serve", "run", "check"}) {
    const ProgramResult result = RunProgram({command, "--help"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, StartsWith("Usage: opensandbox-emulator " + command));
    EXPECT_THAT(result.out, HasSubstr("\nExample:\n  opensandbox-emulator " + command + " "));
    EXPECT_THAT(result.err, IsEmpty());
  }
}

TEST(UsageTest, VersionIsOneLine) {
  const ProgramResult result = RunProgram({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, MatchesRegex("opensandbox-emulator [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(UsageTest, NoCommandShowsTheHelpAsTalk) {
  const ProgramResult result = RunProgram({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, StartsWith("Usage: "));
}

struct BadCommandLine {
  std::string name;
  std::vector<std::string> arguments;
  std::string said;  // part of the one line
};
void PrintTo(const BadCommandLine& row, std::ostream* out) { *out << row.name; }

class BadUsageTest : public testing::TestWithParam<BadCommandLine> {};

TEST_P(BadUsageTest, IsOneLineThatNamesTheFlagAndTheHelp) {
  const ProgramResult result = RunProgram(GetParam().arguments);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(Lines(result.err), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr(GetParam().said));
  EXPECT_THAT(result.err, HasSubstr("--help'"));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadUsageTest,
    testing::ValuesIn(std::vector<BadCommandLine>{
        {"UnknownCommand", {"sevre"}, "there is no command 'sevre'"},
        {"UnknownTopFlag", {"--verbose"}, "unrecognised option '--verbose'"},
        {"UnknownFlag", {"serve", "--prot", "1"}, "'--prot'"},
        {"AbbreviatedFlag", {"serve", "--contr", "1"}, "'--contr'"},
        {"FlagWithoutValue", {"serve", "--port"}, "'--port'"},
        {"SwitchWithValue", {"serve", "--strict=yes"}, "'--strict'"},
        {"FlagTwice", {"serve", "--port", "1", "--port", "2"}, "--port was given more than once"},
        {"EmptyValue", {"serve", "--host="}, "'--host"},
        {"PortNoNumber", {"serve", "--port", "http"}, "--port: found \"http\", expected a number from 0 to 65535"},
        {"PortTooLarge", {"serve", "--port", "65536"}, "--port: found \"65536\""},
        {"PortNegative", {"serve", "--port=-1"}, "--port: found \"-1\""},
        {"ControlPort", {"serve", "--control-port", "1x"}, "--control-port: found \"1x\""},
        {"Clock", {"serve", "--clock", "lunar"}, "--clock: found \"lunar\", expected real, virtual or scale=N"},
        {"ClockScaleZero", {"serve", "--clock", "scale=0"}, "--clock: found \"scale=0\""},
        {"ClockScaleNan", {"serve", "--clock", "scale=nan"}, "--clock: found \"scale=nan\""},
        {"SeedZero", {"serve", "--seed", "0"}, "--seed: found \"0\""},
        {"ProfileLater", {"serve", "--profile", "kubernetes"}, "--profile kubernetes is not emulated yet"},
        {"ProfileUnknown", {"serve", "--profile", "dcoker"}, "--profile: found \"dcoker\""},
        {"ExecutionLater", {"serve", "--execution", "local"}, "--execution local does not exist yet"},
        {"ServeArgument", {"serve", "x.scenario.json"}, "unexpected argument 'x.scenario.json'"},
        {"HostOutsideWithoutKey", {"serve", "--host", "0.0.0.0", "--port", "0"}, "key"},
        {"RunWithoutPath", {"run"}, "expected PATH..."},
        {"CheckWithoutPath", {"check"}, "expected PATH..."},
        {"Jobs", {"run", "x", "--jobs", "0"}, "--jobs: found \"0\""},
        {"ShardZero", {"run", "x", "--shard", "0/2"}, "--shard: found \"0/2\""},
        {"ShardBeyond", {"run", "x", "--shard", "3/2"}, "--shard: found \"3/2\""},
        {"ShardNoSlash", {"run", "x", "--shard", "1"}, "--shard: found \"1\""},
        {"RunSeed", {"run", "x", "--seed", "18446744073709551616"}, "--seed: found"},
        {"StuckAfter", {"run", "x", "--stuck-after", "30"}, "--stuck-after: found \"30\", expected a duration"},
    }),
    [](const auto& param) { return param.param.name; });

TEST(ExitCodeTest, AnExceptionIsAnInternalError) {
  testing::internal::CaptureStderr();
  const ExitCode code = RunGuarded([]() -> ExitCode { throw std::runtime_error("a bug"); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "opensandbox-emulator: internal error: a bug\n");
  EXPECT_EQ(static_cast<int>(code), 70);
}

TEST(ExitCodeTest, TheReadmeHasARowForEachCode) {
  const std::string readme = ReadWholeFile(OPENSANDBOX_SOURCE_DIR "/emulator/README.md");
  for (const std::string code : {"0", "1", "2", "3", "4", "5", "70"}) {
    EXPECT_THAT(readme, HasSubstr("\n| " + code + " | ")) << code;
  }
}

TEST(ExitCodeTest, AFullDiskUnderStdoutIsAnInputOutputError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string command = OPENSANDBOX_EMULATOR " --version > /dev/full 2> /dev/null";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a fixed command
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

}  // namespace
}  // namespace opensandbox::emulator

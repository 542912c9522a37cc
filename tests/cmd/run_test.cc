#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "tests/cmd/child_process.h"

namespace opensandbox::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Passing(const std::string& name, const std::string& tag = "quick") {
  return R"({"schemaVersion": 1, "name": ")" + name + R"(", "tags": [")" + tag + R"("],
             "client": [{"create": {}}, {"delete": {}}]})";
}
std::string Leaking(const std::string& name) {
  return R"({"schemaVersion": 1, "name": ")" + name + R"(", "tags": ["leak"], "client": [{"create": {}}]})";
}

TEST(RunTest, AllPassIsZero) {
  const TemporaryFolder folder;
  folder.Write("a.scenario.json", Passing("a"));
  folder.Write("b.scenario.json", Passing("b"));
  const ProgramResult result = RunProgram({"run", folder.path()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("SCENARIO  VERDICT"), HasSubstr("\na         PASS"), HasSubstr("\nb         PASS"),
                    HasSubstr("2 scenarios: 2 passed, 0 failed, 0 skipped")));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1B"))) << "no colour in a pipe";
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(RunTest, AFailureIsOneAndTellsWhySeedAndReplay) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("leaky.scenario.json", Leaking("leaky"));
  const ProgramResult result = RunProgram({"run", file, "--seed", "5"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("leaky     FAIL"), HasSubstr("    sb-1 leaked: "),
                                HasSubstr("    seed 5; replay: opensandbox-emulator run " + file + " --seed 5\n"),
                                HasSubstr("1 failed")));
}

TEST(RunTest, TheSameRunGivesTheSameTableApartFromRealTimes) {
  const TemporaryFolder folder;
  for (const std::string name : {"a", "b", "c", "d", "e"}) folder.Write(name + ".scenario.json", Leaking(name));
  const auto normalised = [&](const std::string& jobs) {
    const ProgramResult result = RunProgram({"run", folder.path(), "--jobs", jobs});
    const std::string rows = std::regex_replace(result.out, std::regex("(FAIL|PASS) +[0-9.]+s"), "$1 REAL");
    return std::regex_replace(rows, std::regex("real time [0-9.]+s"), "real time REAL");
  };
  const std::string first = normalised("1");
  EXPECT_THAT(first, HasSubstr("REAL"));
  EXPECT_EQ(normalised("1"), first);
  EXPECT_EQ(normalised("5"), first);
}

TEST(RunTest, TagsSelect) {
  const TemporaryFolder folder;
  folder.Write("a.scenario.json", Passing("a", "one"));
  folder.Write("b.scenario.json", Passing("b", "two"));
  folder.Write("c.scenario.json", Passing("c", "three"));
  const ProgramResult result = RunProgram({"run", folder.path(), "--tag", "one", "--tag", "three"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("\na  "), Not(HasSubstr("\nb  ")), HasSubstr("\nc  "), HasSubstr("2 passed")));
  EXPECT_EQ(RunProgram({"run", folder.path(), "--tag", "four"}).exit_code, 2);
}

TEST(RunTest, ShardsAreDisjointAndCoverEverything) {
  const TemporaryFolder folder;
  for (const std::string name : {"a", "b", "c"}) folder.Write(name + ".scenario.json", Passing(name));
  const ProgramResult first = RunProgram({"run", folder.path(), "--shard", "1/2"});
  const ProgramResult second = RunProgram({"run", folder.path(), "--shard", "2/2"});
  EXPECT_THAT(first.out, AllOf(HasSubstr("\na  "), Not(HasSubstr("\nb  ")), HasSubstr("\nc  ")));
  EXPECT_THAT(second.out, AllOf(Not(HasSubstr("\na  ")), HasSubstr("\nb  "), Not(HasSubstr("\nc  "))));
  const ProgramResult empty = RunProgram({"run", folder.path(), "--shard", "4/4"});
  EXPECT_EQ(empty.exit_code, 0);
  EXPECT_THAT(empty.out, HasSubstr("0 scenarios: "));
}

TEST(RunTest, WritesJUnitXml) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("leaky.scenario.json", Leaking("leaky"));
  const std::string report = folder.path() + "/results.xml";
  const ProgramResult result = RunProgram({"run", file, "--junit", report});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(ReadWholeFile(report), AllOf(HasSubstr("<?xml version=\"1.0\""), HasSubstr("<testcase name=\"leaky\""),
                                           HasSubstr("<failure message=\"sb-1 leaked: "), HasSubstr("</testsuites>")));
}

TEST(RunTest, AReportThatCanNotBeWrittenIsToldBeforeTheRun) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("a.scenario.json", Passing("a"));
  const ProgramResult result = RunProgram({"run", file, "--junit", folder.path() + "/no/such/folder/results.xml"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, AllOf(HasSubstr("--junit: "), HasSubstr("No such file or directory")));
  EXPECT_EQ(RunProgram({"run", file, "--junit", folder.path()}).exit_code, 5) << "a folder is no file";
}

TEST(RunTest, ABadScenarioStopsTheRunBeforeItBegins) {
  const TemporaryFolder folder;
  folder.Write("a.scenario.json", Passing("a"));
  folder.Write("b.scenario.json", R"({"schemaVersion": 1, "name": "b", "cleint": []})");
  const ProgramResult result = RunProgram({"run", folder.path()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, AllOf(HasSubstr("b.scenario.json:1: /cleint: "), HasSubstr("client")));
}

TEST(RunTest, AMissingPathIsOneLineAndItsCode) {
  const ProgramResult result = RunProgram({"run", "/nonexistent/x.scenario.json"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(result.err, "/nonexistent/x.scenario.json: no such file or folder\n");
}

TEST(RunTest, StrictCounts) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("a.scenario.json", R"({"schemaVersion": 1, "name": "a",
      "client": [{"create": {}}, {"run": {"code": "no rule knows this"}}, {"delete": {}}]})");
  const ProgramResult lenient = RunProgram({"run", file});
  EXPECT_EQ(lenient.exit_code, 0);
  EXPECT_THAT(lenient.out, HasSubstr("    warning: "));
  EXPECT_EQ(RunProgram({"run", file, "--strict"}).exit_code, 1);
}

TEST(RunTest, ASkipIsVisibleAndNoFailure) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("a.scenario.json", R"({"schemaVersion": 1, "name": "a"})");
  const ProgramResult result = RunProgram({"run", file});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("a         SKIP"), HasSubstr("skipped: it has no client steps"), HasSubstr("1 skipped")));
}

}  // namespace
}  // namespace opensandbox::emulator

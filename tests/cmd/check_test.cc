#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/cmd/child_process.h"

namespace opensandbox::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    lines.push_back(text.substr(start, end - start));
  }
  return lines;
}

std::string Good(const std::string& name) {
  return R"({"schemaVersion": 1, "name": ")" + name + R"(", "client": [{"create": {}}, {"delete": {}}]})";
}

TEST(CheckTest, GoodFilesGiveSilenceOnStdout) {
  const TemporaryFolder folder;
  folder.Write("a.scenario.json", Good("a"));
  folder.Write("deeper/b.scenario.json", Good("b"));
  folder.Write("notes.json", "not a scenario");
  const ProgramResult result = RunProgram({"check", folder.path()});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(result.err, "2 files, 0 problems\n");
}

TEST(CheckTest, TenMistakesAreTenLinesEachWithItsPlace) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("bad.scenario.json", R"({
  "schemaVersion": 2,
  "name": "bad",
  "tags": "cleanup",
  "seed": -1,
  "clock": "lunar",
  "sandboxes": [ { "lifecycle": [ { "state": "Running", "for": "2 seconds" } ] } ],
  "execution": [ { "evnts": [] } ],
  "faults": [ { "id": "f", "on": "createSandbx", "respond": { "status": 99 } } ],
  "client": [ { "create": { "timeout": "1.5s" } } ],
  "expect": { "live": "none" }
})");
  const ProgramResult result = RunProgram({"check", file});
  EXPECT_EQ(result.exit_code, 3);
  const std::vector<std::string> lines = SplitLines(result.out);
  ASSERT_THAT(lines, SizeIs(testing::Ge(10u))) << result.out;
  for (const std::string& line : lines) {
    EXPECT_EQ(line.substr(0, file.size()), file);
    EXPECT_TRUE(std::regex_search(line.substr(file.size()), std::regex("^:[0-9]+: /"))) << line;
  }
  for (const std::string part :
       {":2: /schemaVersion", ":4: /tags", ":5: /seed", ":6: /clock", ":7: /sandboxes/0/lifecycle/0/for",
        ":8: /execution/0/evnts", ":9: /faults/0/on", ":9: /faults/0/respond/status", ":10: /client/0/create/timeout",
        ":11: /expect/live"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  EXPECT_THAT(result.out, HasSubstr("createSandbox")) << "the nearest valid name is told";
  EXPECT_THAT(result.err, HasSubstr("1 files, "));
}

TEST(CheckTest, AMissingFileIsOneLineAndItsCode) {
  const TemporaryFolder folder;
  const std::string missing = folder.path() + "/missing.scenario.json";
  const ProgramResult result = RunProgram({"check", missing});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.out, missing + ": no such file or folder\n");
}

TEST(CheckTest, APathThroughAFileCanNotBeRead) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("plain.txt", "x");
  const ProgramResult result = RunProgram({"check", file + "/scenarios"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(SplitLines(result.out), SizeIs(1));
  EXPECT_THAT(result.out, HasSubstr(file + "/scenarios: "));
}

TEST(CheckTest, AFolderWithoutScenariosIsTold) {
  const TemporaryFolder folder;
  const ProgramResult result = RunProgram({"check", folder.path()});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(SplitLines(result.out), SizeIs(1));
}

TEST(CheckTest, UnreadablePathsWinOverMistakes) {
  const TemporaryFolder folder;
  const std::string bad = folder.Write("bad.scenario.json", "{");
  const ProgramResult result = RunProgram({"check", bad, folder.path() + "/missing"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.out, AllOf(HasSubstr("missing: "), HasSubstr("bad.scenario.json:1: ")));
}

}  // namespace
}  // namespace opensandbox::emulator

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "emulator/report/report.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

ReportRow PassedRow() {
  ReportRow row;
  row.name = "boots-at-once";
  row.file = "scenarios/lifecycle/boots-at-once.scenario.json";
  row.seed = 1;
  row.real_duration = 12ms;
  row.verdict.virtual_duration = 30s + 250ms;
  row.verdict.ledger = {.created = 2, .deleted = 1, .expired = 0, .live = 1};
  row.verdict.requests = 17;
  row.verdict.faults_fired = 3;
  return row;
}

ReportRow FailedRow() {
  ReportRow row = PassedRow();
  row.name = "leaks";
  row.file = "scenarios/cleanup/leaks.scenario.json";
  row.seed = 42;
  row.verdict.passed = false;
  row.verdict.failures = {"sb-1 leaked: never deleted", "step 2 (run): expected success,\ngot error timeout"};
  row.verdict.leaks.resize(1);
  return row;
}

TEST(TextReportTest, ColumnsOfHeaderAndRowsAlign) {
  const std::size_t width = NameWidth({"boots-at-once", "leaks"});
  EXPECT_EQ(width, 13u);
  EXPECT_EQ(TextHeader(width),
            "SCENARIO       VERDICT       REAL      VIRTUAL  CREATED  DELETED  LEAKED  REQUESTS  FAULTS\n");
  EXPECT_EQ(TextRow(PassedRow(), width, false),
            "boots-at-once  PASS        0.012s      30.250s        2        1       0        17       3\n");
}

TEST(TextReportTest, ShortNamesKeepTheHeadingsWidth) { EXPECT_EQ(NameWidth({"a"}), 8u); }

TEST(TextReportTest, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(NameWidth({"gr\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBCn"}), 8u);
}

TEST(TextReportTest, AFailureSaysWhySeedAndReplay) {
  const std::string text = TextRow(FailedRow(), 13, false);
  EXPECT_EQ(text,
            "leaks          FAIL        0.012s      30.250s        2        1       1        17       3\n"
            "    sb-1 leaked: never deleted\n"
            "    step 2 (run): expected success,\\ngot error timeout\n"
            "    seed 42; replay: opensandbox-emulator run scenarios/cleanup/leaks.scenario.json --seed 42\n");
}

TEST(TextReportTest, AReplayCommandOfItsOwnIsUsed) {
  ReportRow row = FailedRow();
  row.replay_command = "opensandbox-emulator serve --seed 42";
  EXPECT_THAT(TextRow(row, 13, false), HasSubstr("replay: opensandbox-emulator serve --seed 42\n"));
}

TEST(TextReportTest, APassingRowShowsNoReplayButWarnings) {
  ReportRow row = PassedRow();
  row.verdict.warnings = {"1 execution matched no rule"};
  const std::string text = TextRow(row, 13, false);
  EXPECT_THAT(text, HasSubstr("\n    warning: 1 execution matched no rule\n"));
  EXPECT_THAT(text, Not(HasSubstr("replay")));
}

TEST(TextReportTest, ASkippedRowSaysWhy) {
  ReportRow row;
  row.name = "k8s";
  row.skipped = true;
  row.skip_reason = "profile kubernetes is not emulated yet";
  EXPECT_EQ(TextRow(row, 13, false),
            "k8s            SKIP             -            -        -        -       -         -       -\n"
            "    skipped: profile kubernetes is not emulated yet\n");
}

TEST(TextReportTest, ColourTouchesOnlyTheVerdict) {
  EXPECT_THAT(TextRow(PassedRow(), 13, true), HasSubstr("\x1B[32mPASS\x1B[0m"));
  EXPECT_THAT(TextRow(FailedRow(), 13, true), HasSubstr("\x1B[31mFAIL\x1B[0m"));
  EXPECT_THAT(TextRow(FailedRow(), 13, false), Not(HasSubstr("\x1B")));
  std::string plain = TextRow(PassedRow(), 13, true);
  for (const std::string code : {"\x1B[32m", "\x1B[0m"}) plain.erase(plain.find(code), code.size());
  EXPECT_EQ(plain, TextRow(PassedRow(), 13, false));
}

TEST(TextReportTest, ANameCanNotForgeLines) {
  ReportRow row = PassedRow();
  row.name = "x\nPASS all";
  EXPECT_EQ(TextRow(row, 13, false).find('\n'), TextRow(row, 13, false).size() - 1);
}

TEST(TextReportTest, OnlyRealDurationsMayDifferBetweenRuns) {
  ReportRow slow = FailedRow();
  slow.real_duration = 99s;
  std::string slow_text = TextRow(slow, 13, false);
  slow_text.replace(slow_text.find("99.000s"), 7, " 0.012s");
  EXPECT_EQ(slow_text, TextRow(FailedRow(), 13, false));
}

TEST(TextReportTest, SummaryCountsEveryVerdict) {
  ReportRow skipped;
  skipped.skipped = true;
  EXPECT_EQ(TextSummary({PassedRow(), FailedRow(), skipped}, 2500ms),
            "3 scenarios: 1 passed, 1 failed, 1 skipped; sandboxes: 4 created, 2 deleted, 1 leaked; "
            "virtual time 60.500s, real time 2.500s\n");
}

TEST(TextReportTest, ReplayQuotesTheFile) {
  EXPECT_EQ(ReplayCommand("my scenarios/a.scenario.json", 3),
            "opensandbox-emulator run 'my scenarios/a.scenario.json' --seed 3");
}

}  // namespace
}  // namespace opensandbox::emulator

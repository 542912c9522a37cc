// Results as text and JUnit XML.
#ifndef OPENSANDBOX_EMULATOR_REPORT_REPORT_H_
#define OPENSANDBOX_EMULATOR_REPORT_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/scenario/verdict.h"

namespace opensandbox::emulator {

// One scenario's outcome as reports see it.
struct ReportRow {
  std::string name;
  std::string file;
  Verdict verdict;
  Duration real_duration{0};
  std::uint64_t seed = 0;
  bool skipped = false;
  std::string skip_reason;
  // The command that repeats this run. Empty: ReplayCommand(file, seed).
  std::string replay_command;
};

// "opensandbox-emulator run FILE --seed N", the file quoted for a shell where it needs it.
std::string ReplayCommand(const std::string& file, std::uint64_t seed);

// Header, one line per scenario (name, verdict, real and virtual duration, sandboxes created/deleted/leaked, requests,
// faults fired), and under a failure why, in words, with seed and replay command. `name_width` aligns the columns.
// Everything but the real durations is the same for the same rows. Each returned text ends with a newline. Control
// characters and broken UTF-8 in names and sentences are escaped, so that a line stays a line.
std::string TextHeader(std::size_t name_width);
std::string TextRow(const ReportRow& row, std::size_t name_width, bool colour);
std::string TextSummary(const std::vector<ReportRow>& rows, Duration real_total);
// The width of the NAME column that fits all rows: characters of the longest name, at least that of the heading.
std::size_t NameWidth(const std::vector<std::string>& names);

// One <testsuite> with a <testcase> per row: `time` is real seconds, <property> elements tell the seed and the virtual
// duration, a <failure>'s message is the first sentence and its text all of them with the replay command. Well-formed
// XML 1.0 in UTF-8; what XML can't hold is replaced by U+FFFD.
std::string JUnitXml(const std::vector<ReportRow>& rows, const std::string& suite_name);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_REPORT_REPORT_H_

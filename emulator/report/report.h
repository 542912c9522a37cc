// Results as text and JUnit XML.
#ifndef OPENSANDBOX_EMULATOR_REPORT_REPORT_H_
#define OPENSANDBOX_EMULATOR_REPORT_REPORT_H_

#include <cstdint>
#include <string>
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
};

// Header, one line per scenario (name, verdict, real and virtual duration, sandboxes created/deleted/leaked, requests,
// faults fired), and under a failure why, in words, with seed and replay command. `name_width` aligns the columns.
std::string TextHeader(std::size_t name_width);
std::string TextRow(const ReportRow& row, std::size_t name_width, bool colour);
std::string TextSummary(const std::vector<ReportRow>& rows, Duration real_total);
std::string JUnitXml(const std::vector<ReportRow>& rows, const std::string& suite_name);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_REPORT_REPORT_H_

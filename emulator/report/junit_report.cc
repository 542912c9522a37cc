#include "emulator/report/printable.h"
#include "emulator/report/report.h"
#include "opensandbox/base/units.h"

namespace opensandbox::emulator {
namespace {

std::string Attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + XmlEscape(value, /*attribute=*/true) + "\"";
}

std::string Property(std::string_view name, std::string_view value) {
  return "      <property" + Attribute("name", name) + Attribute("value", value) + "/>\n";
}

// "scenarios/lifecycle/x.scenario.json" is "scenarios.lifecycle": CI systems group test cases by it.
std::string ClassName(const std::string& file, const std::string& suite_name) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos) return suite_name;
  std::string name;
  std::size_t start = 0;
  while (start <= slash) {
    const std::size_t end = file.find('/', start);
    const std::string part = file.substr(start, end - start);
    if (!part.empty() && part != "." && part != "..") name += (name.empty() ? "" : ".") + part;
    start = end + 1;
  }
  return name.empty() ? suite_name : name;
}

std::string TestCase(const ReportRow& row, const std::string& suite_name) {
  const Verdict& verdict = row.verdict;
  std::string xml = "    <testcase" + Attribute("name", row.name) +
                    Attribute("classname", ClassName(row.file, suite_name)) + Attribute("file", row.file) +
                    Attribute("time", Seconds(row.skipped ? Duration{0} : row.real_duration)) + ">\n";
  xml += "      <properties>\n";
  xml += "  " + Property("seed", std::to_string(row.seed));
  if (!row.skipped) {
    xml += "  " + Property("virtual", FormatDuration(verdict.virtual_duration));
    xml += "  " + Property("created", std::to_string(verdict.ledger.created));
    xml += "  " + Property("deleted", std::to_string(verdict.ledger.deleted));
    xml += "  " + Property("leaked", std::to_string(verdict.leaks.size()));
    xml += "  " + Property("requests", std::to_string(verdict.requests));
    xml += "  " + Property("faults", std::to_string(verdict.faults_fired));
  }
  xml += "      </properties>\n";
  if (row.skipped) {
    xml += "      <skipped" + Attribute("message", row.skip_reason) + "/>\n";
  } else if (!verdict.passed) {
    std::string text;
    for (const std::string& failure : verdict.failures) text += failure + "\n";
    text += "seed " + std::to_string(row.seed) +
            "; replay: " + (row.replay_command.empty() ? ReplayCommand(row.file, row.seed) : row.replay_command) + "\n";
    xml += "      <failure" +
           Attribute("message", verdict.failures.empty() ? std::string("failed") : verdict.failures.front()) +
           Attribute("type", "verdict") + ">" + XmlEscape(text, /*attribute=*/false) + "</failure>\n";
  }
  if (!row.skipped && !verdict.warnings.empty()) {
    std::string text;
    for (const std::string& warning : verdict.warnings) text += "warning: " + warning + "\n";
    xml += "      <system-out>" + XmlEscape(text, /*attribute=*/false) + "</system-out>\n";
  }
  return xml + "    </testcase>\n";
}

}  // namespace

std::string JUnitXml(const std::vector<ReportRow>& rows, const std::string& suite_name) {
  std::size_t failed = 0, skipped = 0;
  Duration time{0};
  for (const ReportRow& row : rows) {
    if (row.skipped) {
      ++skipped;
      continue;
    }
    if (!row.verdict.passed) ++failed;
    time += row.real_duration;
  }
  const std::string counts = Attribute("name", suite_name) + Attribute("tests", std::to_string(rows.size())) +
                             Attribute("failures", std::to_string(failed)) + Attribute("errors", "0");
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += "<testsuites" + counts + Attribute("time", Seconds(time)) + ">\n";
  xml += "  <testsuite" + counts + Attribute("skipped", std::to_string(skipped)) + Attribute("time", Seconds(time)) +
         ">\n";
  for (const ReportRow& row : rows) xml += TestCase(row, suite_name);
  return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace opensandbox::emulator

#include <algorithm>

#include "emulator/report/printable.h"
#include "emulator/report/report.h"

namespace opensandbox::emulator {
namespace {

struct Column {
  std::string_view heading;
  std::size_t width;
};

// Behind the name, right-aligned. Wide enough for a day of virtual time and a million requests.
constexpr Column kVerdict{"VERDICT", 7};
constexpr Column kReal{"REAL", 9};
constexpr Column kVirtual{"VIRTUAL", 11};
constexpr Column kCreated{"CREATED", 7};
constexpr Column kDeleted{"DELETED", 7};
constexpr Column kLeaked{"LEAKED", 6};
constexpr Column kRequests{"REQUESTS", 8};
constexpr Column kFaults{"FAULTS", 6};
constexpr std::string_view kNameHeading = "SCENARIO";
constexpr std::string_view kIndent = "    ";

void PadLeft(std::string& line, std::string_view text, std::size_t width) {
  line += "  ";
  if (text.size() < width) line.append(width - text.size(), ' ');
  line += text;
}

void PadRight(std::string& line, const std::string& text, std::size_t width) {
  line += text;
  const std::size_t length = CodePoints(text);
  if (length < width) line.append(width - length, ' ');
}

std::string_view VerdictWord(const ReportRow& row) {
  if (row.skipped) return "SKIP";
  return row.verdict.passed ? "PASS" : "FAIL";
}

std::string_view VerdictColour(const ReportRow& row) {
  if (row.skipped) return "\x1B[33m";
  return row.verdict.passed ? "\x1B[32m" : "\x1B[31m";
}

void AddSentence(std::string& text, std::string_view prefix, std::string_view sentence) {
  text += kIndent;
  text += prefix;
  text += OneLine(sentence);
  text += '\n';
}

}  // namespace

std::string ReplayCommand(const std::string& file, std::uint64_t seed) {
  return "opensandbox-emulator run " + ShellQuote(file.empty() ? "SCENARIO" : file) + " --seed " + std::to_string(seed);
}

std::size_t NameWidth(const std::vector<std::string>& names) {
  std::size_t width = kNameHeading.size();
  for (const std::string& name : names) width = std::max(width, CodePoints(OneLine(name)));
  return width;
}

std::string TextHeader(std::size_t name_width) {
  std::string line;
  PadRight(line, std::string(kNameHeading), name_width);
  line += "  ";
  PadRight(line, std::string(kVerdict.heading), kVerdict.width);
  for (const Column& column : {kReal, kVirtual, kCreated, kDeleted, kLeaked, kRequests, kFaults}) {
    PadLeft(line, column.heading, column.width);
  }
  return line + "\n";
}

std::string TextRow(const ReportRow& row, std::size_t name_width, bool colour) {
  std::string line;
  PadRight(line, OneLine(row.name), name_width);
  line += "  ";
  if (colour) line += VerdictColour(row);
  line += VerdictWord(row);
  if (colour) line += "\x1B[0m";
  line.append(kVerdict.width - VerdictWord(row).size(), ' ');
  if (row.skipped) {
    for (const Column& column : {kReal, kVirtual, kCreated, kDeleted, kLeaked, kRequests, kFaults}) {
      PadLeft(line, "-", column.width);
    }
    line += '\n';
    AddSentence(line, "skipped: ", row.skip_reason);
    return line;
  }
  const Verdict& verdict = row.verdict;
  PadLeft(line, Seconds(row.real_duration) + "s", kReal.width);
  PadLeft(line, Seconds(verdict.virtual_duration) + "s", kVirtual.width);
  PadLeft(line, std::to_string(verdict.ledger.created), kCreated.width);
  PadLeft(line, std::to_string(verdict.ledger.deleted), kDeleted.width);
  PadLeft(line, std::to_string(verdict.leaks.size()), kLeaked.width);
  PadLeft(line, std::to_string(verdict.requests), kRequests.width);
  PadLeft(line, std::to_string(verdict.faults_fired), kFaults.width);
  line += '\n';
  for (const std::string& failure : verdict.failures) AddSentence(line, "", failure);
  for (const std::string& warning : verdict.warnings) AddSentence(line, "warning: ", warning);
  if (!verdict.passed) {
    AddSentence(line, "seed " + std::to_string(row.seed) + "; replay: ",
                row.replay_command.empty() ? ReplayCommand(row.file, row.seed) : row.replay_command);
  }
  return line;
}

std::string TextSummary(const std::vector<ReportRow>& rows, Duration real_total) {
  std::uint64_t passed = 0, failed = 0, skipped = 0, created = 0, deleted = 0, leaked = 0;
  Duration virtual_total{0};
  for (const ReportRow& row : rows) {
    if (row.skipped) {
      ++skipped;
      continue;
    }
    ++(row.verdict.passed ? passed : failed);
    created += row.verdict.ledger.created;
    deleted += row.verdict.ledger.deleted;
    leaked += row.verdict.leaks.size();
    virtual_total += row.verdict.virtual_duration;
  }
  return std::to_string(rows.size()) + " scenarios: " + std::to_string(passed) + " passed, " + std::to_string(failed) +
         " failed, " + std::to_string(skipped) + " skipped; sandboxes: " + std::to_string(created) + " created, " +
         std::to_string(deleted) + " deleted, " + std::to_string(leaked) + " leaked; virtual time " +
         Seconds(virtual_total) + "s, real time " + Seconds(real_total) + "s\n";
}

}  // namespace opensandbox::emulator

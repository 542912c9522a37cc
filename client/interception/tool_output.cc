#include "opensandbox/interception/tool_output.h"

#include <algorithm>
#include <vector>

#include "client/providers/utf8.h"

namespace opensandbox {
namespace {

using internal::RepairUtf8;
using internal::Utf8Prefix;

// Terminal colours, which IPython puts into tracebacks: ESC [ ... letter.
std::string WithoutColours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b' || i + 1 >= text.size() || text[i + 1] != '[') {
      plain += text[i];
      continue;
    }
    i += 2;
    while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
  }
  return plain;
}

void AppendLine(std::string& text, std::string_view line) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
}

// "\n" at the end is kept as it was printed only if nothing follows.
void AppendPart(std::string& text, std::string_view title, std::string_view part) {
  if (part.empty()) return;
  AppendLine(text, title);
  AppendLine(text, part);
}

// The last lines of a traceback, without the line "Name: value" that was already said.
std::string TracebackEnd(const ExecutionError& error, std::size_t lines_max) {
  std::vector<std::string> lines;
  for (const std::string& piece : error.traceback) {
    const std::string plain = WithoutColours(piece);
    std::size_t begin = 0;
    while (begin < plain.size()) {
      const std::size_t end = std::min(plain.find('\n', begin), plain.size());
      lines.push_back(plain.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  while (!lines.empty() && (lines.back().empty() || lines.back() == error.name + ": " + error.value)) lines.pop_back();
  std::string text;
  const std::size_t first = lines.size() > lines_max ? lines.size() - lines_max : 0;
  if (first > 0 && lines_max > 0) text = "... " + std::to_string(first) + " lines of the traceback left out";
  for (std::size_t i = first; i < lines.size(); ++i) AppendLine(text, lines[i]);
  return text;
}

void AppendResult(std::string& text, const ExecutionOutput& output) {
  for (const char* key : {"text/plain", "text", "text/markdown", "text/html"}) {
    const auto it = output.find(key);
    if (it == output.end() || it->second.empty()) continue;
    return AppendPart(text, "[result]", it->second);
  }
  std::string types;
  for (const auto& [type, value] : output) types += (types.empty() ? "" : ", ") + type;
  if (!types.empty()) AppendLine(text, "[result: " + types + "]");
}

std::string StructuredText(const CodeExecutionResult& result, const ToolOutputOptions& options) {
  std::string text = result.stdout_text;
  AppendPart(text, "[stderr]", WithoutColours(result.stderr_text));
  for (const ExecutionOutput& output : result.results) AppendResult(text, output);
  for (const ExecutionError& error :
       result.errors.empty() && result.error ? std::vector{*result.error} : result.errors) {
    const std::string& separator = error.name.empty() || error.value.empty() ? "" : ": ";
    AppendLine(text, "[execution error] " + error.name + separator + error.value);
    const std::string traceback = TracebackEnd(error, options.traceback_lines_max);
    if (!traceback.empty()) AppendLine(text, traceback);
  }
  return text;
}

std::string ContractText(const CodeExecutionResult& result) {
  if (!result.error) return result.stdout_text;
  return "[execution error] " + (result.error->value.empty() ? result.error->name : result.error->value);
}

// Both halves end at whole characters.
std::string Shortened(const std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  const std::string_view head = Utf8Prefix(text, bytes_max / 2 + bytes_max % 2);
  std::size_t tail = text.size() - bytes_max / 2;
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xC0) == 0x80) ++tail;
  std::string shortened(head);
  AppendLine(shortened, "[... " + std::to_string(tail - head.size()) + " bytes left out ...]\n");
  return shortened + text.substr(tail);
}

// What happened, for a model: no addresses, keys or ids, which the messages of errors may hold.
std::string PlainReason(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kTimeout:
      if (error.timeout_clock == TimeoutClock::kRunDeadline) return "the code ran longer than it may and was stopped";
      if (error.timeout_clock == TimeoutClock::kIdle)
        return "the code was silent for longer than it may and was stopped";
      if (error.timeout_clock == TimeoutClock::kReady) return "the sandbox was not ready in time";
      return "the sandbox did not answer in time";
    case ErrorKind::kOutputLimit:
      return "the output was too large; the code was stopped";
    case ErrorKind::kTerminalState:
      return "the sandbox entered " + (error.state.empty() ? "a final state" : error.state) +
             (error.state_reason.empty() ? "" : " (" + error.state_reason + ")");
    case ErrorKind::kSandboxGone:
      return "the sandbox has ended; what the code left in it is lost";
    case ErrorKind::kStreamTruncated:
      return "the output broke off; the code may not have run to its end";
    case ErrorKind::kOutcomeUnknown:
      return "the sandbox did not say whether the code ran";
    case ErrorKind::kInvalidArgument:
      return "the code could not be sent to the sandbox";
    case ErrorKind::kNotImplemented:
      return "the sandbox cannot run code";
    case ErrorKind::kTransport:
      return "the sandbox could not be reached";
    case ErrorKind::kApi:
    case ErrorKind::kProtocol:
    case ErrorKind::kCancelled:
      break;
  }
  return "the sandbox failed";
}

}  // namespace

std::string ToolOutputText(const CodeExecutionResult& result, const ToolOutputOptions& options) {
  const std::string text =
      options.style == ToolOutputStyle::kContract ? ContractText(result) : StructuredText(result, options);
  return Shortened(RepairUtf8(text), options.bytes_max);
}

std::string ToolOutputText(const Error& error, const ToolOutputOptions& options) {
  std::string text;
  if (error.partial_result != nullptr) text = ToolOutputText(*error.partial_result, options);
  AppendLine(text, "[sandbox error] " + PlainReason(error));
  return text;
}

}  // namespace opensandbox

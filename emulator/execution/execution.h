// What "running code" gives, independent of the dialect (execd event stream, E2B NDJSON) that tells it.
#ifndef OPENSANDBOX_EMULATOR_EXECUTION_EXECUTION_H_
#define OPENSANDBOX_EMULATOR_EXECUTION_EXECUTION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/core/reply_plan.h"

namespace opensandbox::emulator {

// Text made on the fly: `unit` repeated to exactly `bytes` bytes. With `lines` > 0 a newline ends each of that many
// equal lines, counted in `bytes`; the text is split into events of at most 64 KiB unless `one_event`.
struct GeneratedText {
  std::string unit = "x";
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  bool one_event = false;  // one huge event (one huge line on the wire), still generated piece by piece
};

struct ExecutionEvent {
  enum class Kind { kStdout, kStderr, kResult, kError, kExecutionCount, kStatus, kBareError, kRaw };
  Kind kind = Kind::kStdout;
  std::string text;                        // stdout, stderr, status; kRaw: bytes put on the wire as they are
  std::optional<GeneratedText> generated;  // instead of text (stdout, stderr)
  std::vector<std::pair<std::string, std::string>> results;  // kResult: MIME type to value
  std::string error_name, error_value;                       // kError; kBareError: code and message
  std::vector<std::string> traceback;
  std::int64_t execution_count = 0;
  Duration delay{0};         // after the event before it
  std::uint64_t repeat = 1;  // 0: for ever
  Duration every{0};         // between repeats
};

enum class ExecutionEnd {
  kComplete,          // the completion event, then a clean end
  kNoCompletion,      // a clean end without the completion event
  kSilence,           // nothing more, no pings either
  kSilenceWithPings,  // nothing more but pings
};

struct ExecutionScript {
  std::string rule_id;  // empty: no rule matched
  std::vector<ExecutionEvent> events;
  ExecutionEnd end = ExecutionEnd::kComplete;
  Duration delay_before_end{0};
};

struct ExecutionCall {
  std::string operation;  // operation::kRunCode, ...
  std::string sandbox_id;
  std::string code;      // or the command
  std::string language;  // "python"; "" for a bare command
  std::string context_id;
  std::map<std::string, std::string> sandbox_metadata;
  std::string sandbox_image;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_EXECUTION_EXECUTION_H_

// What a piece of code printed and returned.
#ifndef OPENSANDBOX_PROVIDERS_CODE_EXECUTION_RESULT_H_
#define OPENSANDBOX_PROVIDERS_CODE_EXECUTION_RESULT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace opensandbox {

// An exception that the code raised inside the sandbox. Not a failure of the call.
struct ExecutionError {
  std::string name{};
  std::string value{};
  std::vector<std::string> traceback{};
  bool operator==(const ExecutionError&) const = default;
};

// MIME type (or "text") to value; a value that is no string is kept as its compact JSON text.
using ExecutionOutput = std::map<std::string, std::string>;

struct CodeExecutionResult {
  std::string stdout_text{};
  std::string stderr_text{};
  std::vector<ExecutionOutput> results{};
  std::optional<ExecutionError> error{};  // the first
  std::vector<ExecutionError> errors{};   // all of them, in order
  std::optional<std::int64_t> execution_count{};
  // Lines of the stream that could not be understood and were skipped.
  std::uint64_t skipped_lines_count = 0;
  // Some bytes were no valid UTF-8; they were replaced by U+FFFD.
  bool had_invalid_utf8 = false;
  // The output is not all there: the cap, a clock or a cut ended the stream before the run's end was announced.
  bool truncated = false;
  // The run's end was announced, but the stream was cut (or stayed open) behind it. Usually nothing is missing; execd
  // may send output after its completion event, though.
  bool cut_after_completion = false;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_PROVIDERS_CODE_EXECUTION_RESULT_H_

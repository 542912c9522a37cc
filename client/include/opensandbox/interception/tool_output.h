// What the model is told about a run of its code.
#ifndef OPENSANDBOX_INTERCEPTION_TOOL_OUTPUT_H_
#define OPENSANDBOX_INTERCEPTION_TOOL_OUTPUT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "opensandbox/base/error.h"
#include "opensandbox/providers/code_execution_result.h"

namespace opensandbox {

enum class ToolOutputStyle {
  // stdout; "[stderr]" and its text; "[result]" and each result that is text, "[result: image/png]" for others;
  // "[execution error] name: value" and the end of the traceback. A part that is empty is left out, so plain output is
  // just that output.
  kStructured,
  // litellm's: "[execution error] " and the error's value, or its name, if there is an error; else stdout.
  kContract,
};

struct ToolOutputOptions {
  ToolOutputStyle style = ToolOutputStyle::kStructured;
  // Longer text keeps this many bytes in all, half of them from its front and half from its end, with a line between
  // that says how much is missing.
  std::size_t bytes_max = 32 << 10;
  std::size_t traceback_lines_max = 20;  // the last ones
};

// Arguments that are no object with a string `code`. Nothing was run.
inline constexpr std::string_view kInvalidToolArguments = "[invalid tool arguments: could not parse code]";

std::string ToolOutputText(const CodeExecutionResult& result, const ToolOutputOptions& options = {});
// Of a call that failed: the output so far, if there is any, then "[sandbox error] " and what happened in words that
// name no address, key or id.
std::string ToolOutputText(const Error& error, const ToolOutputOptions& options = {});

}  // namespace opensandbox

#endif  // OPENSANDBOX_INTERCEPTION_TOOL_OUTPUT_H_

// Requests to a model and what the interception of code_interpreter makes of them.
#ifndef OPENSANDBOX_INTERCEPTION_MODEL_REQUEST_H_
#define OPENSANDBOX_INTERCEPTION_MODEL_REQUEST_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "opensandbox/base/result.h"

namespace opensandbox {

// The function tool that stands in for code_interpreter, as the model sees it.
inline constexpr char kCodeExecutionToolName[] = "litellm_code_execution";

enum class RequestShape {
  kResponses,        // OpenAI's /v1/responses
  kChatCompletions,  // OpenAI's /v1/chat/completions
};

struct ModelRequest {
  RequestShape shape = RequestShape::kResponses;
  std::string json{};  // the body, as the client sent it
  // Who asks, as the host has authenticated it (e.g. the hash of an API key). Two identities never share a sandbox,
  // whatever session ids they send. Never read from the body: the client writes that.
  std::string identity{};
  // Whose model it is, e.g. "openai"; compared with InterceptionOptions::enabled_providers. Empty: what stands before a
  // slash in the body's `model`.
  std::string model_provider{};
  std::stop_token stop{};
};

// Sends a body to the model and returns the body of the (complete, not streamed) answer. Called on the caller's thread.
using CallModel = std::function<Result<std::string>(const std::string& request_json, std::stop_token stop)>;

// A call of the stand-in tool in an answer of the model.
struct ToolCall {
  std::string call_id{};
  std::string arguments{};            // JSON text, as the model wrote it
  std::optional<std::string> code{};  // absent: the arguments are no object with a string `code`
  bool operator==(const ToolCall&) const = default;
};

// One run of the model's code, as it is told to the client.
struct CodeInterpreterCall {
  std::string id{};  // "ci_" and 32 hexadecimal digits
  std::string call_id{};
  std::string code{};
  std::string container_id{};  // the sandbox's id; empty if there was none
  std::string output{};        // what the model was told
  bool failed = false;         // the sandbox failed, not the code
  bool operator==(const CodeInterpreterCall&) const = default;
};

enum class LoopEnd {
  kNotIntercepted,  // no code_interpreter tool, or switched off: the model's answer as it is
  kAnswer,          // the model answered without calling the tool (again)
  kHandedBack,      // the model also called a tool of the client's: the client's turn
  kLoopLimit,       // a guard ended the loop; the answer was made without the tool
};
std::string_view ToString(LoopEnd end);

struct LoopResult {
  std::string response_json{};  // never holds a call of the stand-in tool
  LoopEnd end = LoopEnd::kNotIntercepted;
  std::string loop_limit{};  // which guard, in the contract's words; empty unless kLoopLimit
  int model_calls = 0;
  std::vector<CodeInterpreterCall> calls{};  // in the order of their running
  // The client asked for a stream; the model was not. ToEventStream() makes one.
  bool stream_requested = false;
  bool stream_usage_requested = false;
  // The session's sandbox had ended and another one took its place during this request.
  bool session_state_lost = false;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_INTERCEPTION_MODEL_REQUEST_H_

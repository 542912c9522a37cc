// The bodies of model calls: what the interception reads and changes in them. Text in, text out; no state.
#ifndef OPENSANDBOX_CLIENT_INTERCEPTION_MODEL_JSON_H_
#define OPENSANDBOX_CLIENT_INTERCEPTION_MODEL_JSON_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "opensandbox/base/result.h"
#include "opensandbox/interception/model_request.h"

namespace opensandbox::internal {

// Deeper bodies are refused: printing them would use the stack without limit.
inline constexpr int kJsonDepthMax = 256;

// The deepest nesting of brackets outside strings. 0 for text without any.
int NestingDepth(std::string_view json);

struct RewrittenRequest {
  std::string json;
  bool intercepted = false;
  bool stream_requested = false;        // it was, and is not any more
  bool stream_usage_requested = false;  // stream_options.include_usage of a chat request
  std::string session_id;               // empty: none
  std::string model;
};

// Control fields go in any case (root, metadata, litellm_metadata). The rest happens if `may_intercept` and there is a
// tool of type code_interpreter. kInvalidArgument: no JSON object, nested too deep, or a tool of the client's has the
// stand-in's name.
Result<RewrittenRequest> RewriteRequest(RequestShape shape, std::string_view json, bool may_intercept);

// `provider/model` -> provider, or "".
std::string ProviderOfModel(std::string_view json);

struct ModelTurn {
  std::vector<ToolCall> calls;  // of the stand-in tool
  bool has_client_calls = false;
  // The names and arguments of `calls`, the same for equal ones however they are spelt and whatever their ids.
  std::string fingerprint;
};

// kProtocol: no JSON object, or nested too deep.
Result<ModelTurn> ReadTurn(RequestShape shape, std::string_view response_json);

struct AnsweredCall {
  ToolCall call;
  std::string output;
};

// The next body: the conversation so far, the model's turn as it was, and an output for each of its calls of the
// stand-in tool. A tool choice that would force another call is taken out. `withhold_tool`: the tool is, too.
// `answers` are in the turn's order. `new_id` gives an id to a call that has none.
Result<std::string> FollowUpRequest(RequestShape shape, std::string_view request_json, std::string_view response_json,
                                    const std::vector<AnsweredCall>& answers, bool withhold_tool);

// The answer without calls of the stand-in tool and with the records: Responses, as code_interpreter_call items before
// the first message (or before the first function call, or at the end); chat, as
// provider_specific_fields.code_interpreter_calls of the first choice's message.
Result<std::string> FinalResponse(RequestShape shape, std::string_view response_json,
                                  const std::vector<CodeInterpreterCall>& records);

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_INTERCEPTION_MODEL_JSON_H_

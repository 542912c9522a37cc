// A finished answer in the form of a stream, for a client that asked for one.
#ifndef OPENSANDBOX_INTERCEPTION_EVENT_STREAM_H_
#define OPENSANDBOX_INTERCEPTION_EVENT_STREAM_H_

#include <string>
#include <string_view>

#include "opensandbox/base/result.h"
#include "opensandbox/interception/model_request.h"

namespace opensandbox {

// A text/event-stream body that says what `response_json` says.
//   Responses: response.created, response.in_progress; for each item output_item.added and .done, with content_part and
//   output_text events in between for a message's texts and function_call_arguments events for a call;
//   response.completed (or .incomplete, .failed, after the answer's status).
//   Chat completions: chunks with the role, the content and the tool calls of each choice, its finish_reason, with
//   `include_usage` one with the usage, then "data: [DONE]".
// kInvalidArgument: no JSON object.
Result<std::string> ToEventStream(RequestShape shape, std::string_view response_json, bool include_usage = false);

}  // namespace opensandbox

#endif  // OPENSANDBOX_INTERCEPTION_EVENT_STREAM_H_

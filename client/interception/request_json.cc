// The part of model_json.h about requests.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/interception/model_json.h"

namespace opensandbox::internal {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kInterpreterType[] = "code_interpreter";
constexpr char kToolDescription[] = "Execute python code in a sandbox and return stdout.";
// What litellm's proxy strips (contract 9.4, 10.1): fields by which a client could steer the loop.
constexpr std::array<std::string_view, 5> kControlPrefixes = {"_websearch_interception", "_compression_interception",
                                                              "_code_interpreter_interception", "_agentic_loop",
                                                              "max_agentic_loops"};

bool IsControlField(std::string_view key) {
  return std::any_of(kControlPrefixes.begin(), kControlPrefixes.end(),
                     [key](std::string_view prefix) { return key.substr(0, prefix.size()) == prefix; });
}

void RemoveControlFields(Json& object) {
  for (auto it = object.begin(); it != object.end();) {
    it = IsControlField(it.key()) ? object.erase(it) : std::next(it);
  }
}

std::string StringMember(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

bool IsInterpreterTool(const Json& tool) { return StringMember(tool, "type") == kInterpreterType; }

// The name of a function tool or choice in either shape; "" for anything else.
std::string FunctionName(const Json& item) {
  if (!item.is_object()) return "";
  const auto function = item.find("function");
  if (function != item.end() && function->is_object()) return StringMember(*function, "name");
  return StringMember(item, "name");
}

Json FunctionTool(RequestShape shape) {
  Json function = {
      {"name", kCodeExecutionToolName},
      {"description", kToolDescription},
      {"parameters",
       {{"type", "object"}, {"properties", {{"code", {{"type", "string"}}}}}, {"required", Json::array({"code"})}}}};
  if (shape == RequestShape::kChatCompletions) return {{"type", "function"}, {"function", std::move(function)}};
  Json tool = {{"type", "function"}};
  tool.update(function);
  return tool;
}

Json FunctionChoice(RequestShape shape) {
  if (shape == RequestShape::kChatCompletions) {
    return {{"type", "function"}, {"function", {{"name", kCodeExecutionToolName}}}};
  }
  return {{"type", "function"}, {"name", kCodeExecutionToolName}};
}

// Does this tool choice name the interpreter, or what stands in for it?
bool TargetsInterpreter(const Json& choice) {
  return StringMember(choice, "type") == kInterpreterType || StringMember(choice, "name") == kInterpreterType ||
         FunctionName(choice) == kCodeExecutionToolName;
}

Error InvalidArgument(std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.message = std::move(message);
  return error;
}

Result<Json> ParseRequest(std::string_view text) {
  if (NestingDepth(text) > kJsonDepthMax) {
    return InvalidArgument("The model request is nested deeper than " + std::to_string(kJsonDepthMax) + " levels.");
  }
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return InvalidArgument("The model request is no JSON object.");
  return json;
}

// Records of an earlier answer come back as input; the model only knows the function that it called.
void ReplaceRecords(Json& input) {
  Json items = Json::array();
  for (Json& item : input) {
    const std::string id = StringMember(item, "id");
    if (StringMember(item, "type") != "code_interpreter_call" || id.rfind("ci_", 0) != 0) {
      items.push_back(std::move(item));
      continue;
    }
    std::string output;
    const auto outputs = item.find("outputs");
    if (outputs != item.end() && outputs->is_array()) {
      for (const Json& part : *outputs) output += StringMember(part, "logs");
    }
    items.push_back({{"type", "function_call"},
                     {"call_id", id},
                     {"name", kCodeExecutionToolName},
                     {"arguments", Json{{"code", StringMember(item, "code")}}.dump()}});
    items.push_back({{"type", "function_call_output"}, {"call_id", id}, {"output", output}});
  }
  input = std::move(items);
}

// The same on the chat surface, where they are a field that no model provider knows.
void RemoveRecords(Json& messages) {
  for (Json& message : messages) {
    if (!message.is_object()) continue;
    const auto fields = message.find("provider_specific_fields");
    if (fields == message.end() || !fields->is_object()) continue;
    fields->erase("code_interpreter_calls");
    if (fields->empty()) message.erase("provider_specific_fields");
  }
}

Json* ArrayMember(Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_array() ? &*it : nullptr;
}

}  // namespace

int NestingDepth(std::string_view json) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

std::string ProviderOfModel(std::string_view json) {
  const Json body = Json::parse(json, nullptr, false);
  const std::string model = StringMember(body, "model");
  const std::size_t slash = model.find('/');
  return slash == std::string::npos ? "" : model.substr(0, slash);
}

Result<RewrittenRequest> RewriteRequest(RequestShape shape, std::string_view json, bool may_intercept) {
  Result<Json> parsed = ParseRequest(json);
  if (!parsed) return std::move(parsed).error();
  Json& body = *parsed;
  RewrittenRequest result;
  result.model = StringMember(body, "model");

  RemoveControlFields(body);
  for (const char* key : {"metadata", "litellm_metadata"}) {
    const auto metadata = body.find(key);
    if (metadata == body.end() || !metadata->is_object()) continue;
    const bool had_fields = !metadata->empty();
    RemoveControlFields(*metadata);
    if (result.session_id.empty()) result.session_id = StringMember(*metadata, "session_id");
    if (had_fields && metadata->empty()) body.erase(key);
  }

  Json* tools = ArrayMember(body, "tools");
  result.intercepted =
      may_intercept && tools != nullptr && std::any_of(tools->begin(), tools->end(), IsInterpreterTool);
  if (!result.intercepted) {
    result.json = body.dump();
    return result;
  }

  Json kept = Json::array();
  bool replaced = false;
  for (Json& tool : *tools) {
    if (!IsInterpreterTool(tool)) {
      if (FunctionName(tool) == kCodeExecutionToolName) {
        return InvalidArgument(std::string("The tool name ") + kCodeExecutionToolName +
                               " is reserved for the code_interpreter tool of the same request.");
      }
      kept.push_back(std::move(tool));
    } else if (!replaced) {
      kept.push_back(FunctionTool(shape));  // where the first one stood; two functions of one name are refused
      replaced = true;
    }
  }
  *tools = std::move(kept);

  const auto choice = body.find("tool_choice");
  if (choice != body.end() && TargetsInterpreter(*choice)) *choice = FunctionChoice(shape);

  const auto stream = body.find("stream");
  if (stream != body.end() && stream->is_boolean() && stream->get<bool>()) {
    result.stream_requested = true;
    *stream = false;
    const auto options = body.find("stream_options");
    if (options != body.end()) {
      // Refused by model providers unless the request streams.
      const auto usage = options->is_object() ? options->find("include_usage") : options->end();
      result.stream_usage_requested = options->is_object() && usage != options->end() && *usage == true;
      body.erase("stream_options");
    }
  }

  if (shape == RequestShape::kResponses) {
    if (Json* input = ArrayMember(body, "input")) ReplaceRecords(*input);
  } else if (Json* messages = ArrayMember(body, "messages")) {
    RemoveRecords(*messages);
  }
  result.json = body.dump();
  return result;
}

namespace {

Json ToolOutputItem(RequestShape shape, const AnsweredCall& answer) {
  if (shape == RequestShape::kResponses) {
    return {{"type", "function_call_output"}, {"call_id", answer.call.call_id}, {"output", answer.output}};
  }
  return {{"role", "tool"}, {"tool_call_id", answer.call.call_id}, {"content", answer.output}};
}

// The conversation so far as a list that can be added to.
Json Conversation(RequestShape shape, const Json& body) {
  const auto found = body.find(shape == RequestShape::kResponses ? "input" : "messages");
  if (found == body.end()) return Json::array();
  if (found->is_array()) return *found;
  if (found->is_string()) return Json::array({Json{{"role", "user"}, {"content", *found}}});
  return Json::array();
}

// The model's items as they were, each call of the stand-in followed by its output.
void AppendResponsesTurn(const Json& response, const std::vector<AnsweredCall>& answers, Json& conversation) {
  const auto output = response.find("output");
  if (output == response.end() || !output->is_array()) return;
  std::size_t next = 0;
  for (const Json& item : *output) {
    conversation.push_back(item);
    const bool is_ours = StringMember(item, "type") == "function_call" && FunctionName(item) == kCodeExecutionToolName;
    if (!is_ours || next >= answers.size()) continue;
    conversation.back()["call_id"] = answers[next].call.call_id;
    conversation.back()["arguments"] = answers[next].call.arguments;
    conversation.push_back(ToolOutputItem(RequestShape::kResponses, answers[next]));
    ++next;
  }
}

void AppendChatTurn(const Json& response, const std::vector<AnsweredCall>& answers, Json& conversation) {
  const auto choices = response.find("choices");
  if (choices == response.end() || !choices->is_array() || choices->empty()) return;
  const auto found = choices->front().find("message");
  if (found == choices->front().end() || !found->is_object()) return;
  Json message = Json::object();
  for (const auto& [key, value] : found->items()) {
    if (key == "content" || (!value.is_null() && key != "provider_specific_fields")) message[key] = value;
  }
  message["role"] = "assistant";
  std::size_t next = 0;
  for (Json& call : message["tool_calls"]) {
    if (FunctionName(call) != kCodeExecutionToolName || next >= answers.size()) continue;
    call["id"] = answers[next].call.call_id;
    call["function"]["arguments"] = answers[next].call.arguments;
    call.erase("call_id");
    ++next;
  }
  conversation.push_back(std::move(message));
  for (const AnsweredCall& answer : answers) {
    conversation.push_back(ToolOutputItem(RequestShape::kChatCompletions, answer));
  }
}

void WithholdTool(Json& body) {
  Json* tools = ArrayMember(body, "tools");
  if (tools == nullptr) return;
  Json kept = Json::array();
  for (Json& tool : *tools) {
    if (FunctionName(tool) != kCodeExecutionToolName) kept.push_back(std::move(tool));
  }
  *tools = std::move(kept);
  if (!tools->empty()) return;
  // Refused by model providers without tools.
  for (const char* key : {"tools", "tool_choice", "parallel_tool_calls"}) body.erase(key);
}

}  // namespace

Result<std::string> FollowUpRequest(RequestShape shape, std::string_view request_json, std::string_view response_json,
                                    const std::vector<AnsweredCall>& answers, bool withhold_tool) {
  Result<Json> parsed = ParseRequest(request_json);
  if (!parsed) return std::move(parsed).error();
  Json& body = *parsed;
  const Json response = Json::parse(response_json, nullptr, false);
  Json conversation = Conversation(shape, body);
  if (response.is_object() && shape == RequestShape::kResponses) AppendResponsesTurn(response, answers, conversation);
  if (response.is_object() && shape == RequestShape::kChatCompletions) AppendChatTurn(response, answers, conversation);
  body[shape == RequestShape::kResponses ? "input" : "messages"] = std::move(conversation);

  const auto choice = body.find("tool_choice");
  if (choice != body.end() && TargetsInterpreter(*choice)) {
    body.erase("tool_choice");
  } else if (choice != body.end() && *choice == "required") {
    *choice = "auto";  // a tool was called as required; asked for again, the conversation would never end
  }
  if (withhold_tool) WithholdTool(body);
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace opensandbox::internal

// The part of model_json.h about answers.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/interception/model_json.h"

namespace opensandbox::internal {
namespace {

using Json = nlohmann::ordered_json;

std::string StringMember(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

Json* Member(Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

Result<Json> ParseResponse(std::string_view text) {
  Error error;
  error.kind = ErrorKind::kProtocol;
  error.operation = "callModel";
  error.outcome = Outcome::kHappened;
  if (NestingDepth(text) > kJsonDepthMax) {
    error.message = "The model's answer is nested deeper than " + std::to_string(kJsonDepthMax) + " levels.";
    return error;
  }
  Json json = Json::parse(text, nullptr, false);
  if (json.is_object()) return json;
  error.message = "The model's answer is no JSON object.";
  return error;
}

// What the two shapes call a function call, seen alike.
struct FunctionCall {
  std::string id;
  std::string name;
  std::string arguments;
};

// Arguments as text: an object is encoded, null and anything missing is "".
std::string ArgumentsText(const Json& holder) {
  const auto it = holder.find("arguments");
  if (it == holder.end() || it->is_null()) return "";
  return it->is_string() ? it->get<std::string>() : it->dump();
}

std::optional<FunctionCall> ReadResponsesCall(const Json& item) {
  if (StringMember(item, "type") != "function_call") return std::nullopt;
  std::string id = StringMember(item, "call_id");
  if (id.empty()) id = StringMember(item, "id");
  return FunctionCall{std::move(id), StringMember(item, "name"), ArgumentsText(item)};
}

std::optional<FunctionCall> ReadChatCall(const Json& call) {
  if (StringMember(call, "type") != "function") return std::nullopt;
  const auto function = call.find("function");
  if (function == call.end() || !function->is_object()) return std::nullopt;
  std::string id = StringMember(call, "id");
  if (id.empty()) id = StringMember(call, "call_id");
  return FunctionCall{std::move(id), StringMember(*function, "name"), ArgumentsText(*function)};
}

std::optional<std::string> CodeOf(const std::string& arguments) {
  if (NestingDepth(arguments) > kJsonDepthMax) return std::nullopt;
  const Json json = Json::parse(arguments, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto code = json.find("code");
  if (code == json.end() || !code->is_string()) return std::nullopt;
  return code->get<std::string>();
}

// The items of the answer that may be calls, with the array they stand in; null if there is none.
Json* CallList(RequestShape shape, Json& response, std::size_t choice = 0) {
  if (shape == RequestShape::kResponses) {
    Json* output = Member(response, "output");
    return output != nullptr && output->is_array() ? output : nullptr;
  }
  Json* choices = Member(response, "choices");
  if (choices == nullptr || !choices->is_array() || choices->size() <= choice) return nullptr;
  Json* message = Member((*choices)[choice], "message");
  Json* calls = message == nullptr ? nullptr : Member(*message, "tool_calls");
  return calls != nullptr && calls->is_array() ? calls : nullptr;
}

std::optional<FunctionCall> ReadCall(RequestShape shape, const Json& item) {
  return shape == RequestShape::kResponses ? ReadResponsesCall(item) : ReadChatCall(item);
}

bool IsOurs(RequestShape shape, const Json& item) {
  const std::optional<FunctionCall> call = ReadCall(shape, item);
  return call && call->name == kCodeExecutionToolName;
}

// Other items by which a model asks the client to act. Those of hosted tools (web_search_call, ...) are already done.
bool IsClientCall(RequestShape shape, const Json& item) {
  if (const std::optional<FunctionCall> call = ReadCall(shape, item)) return call->name != kCodeExecutionToolName;
  const std::string type = StringMember(item, "type");
  if (shape == RequestShape::kChatCompletions) return !type.empty();
  return type == "custom_tool_call" || type == "computer_call" || type == "local_shell_call" || type == "shell_call" ||
         type == "apply_patch_call" || type == "mcp_approval_request";
}

Json ToRecord(const CodeInterpreterCall& call) {
  Json outputs = Json::array();
  if (!call.output.empty()) outputs.push_back({{"type", "logs"}, {"logs", call.output}});
  return {{"id", call.id},     {"type", "code_interpreter_call"},   {"status", call.failed ? "failed" : "completed"},
          {"code", call.code}, {"container_id", call.container_id}, {"outputs", std::move(outputs)}};
}

void RemoveOurs(RequestShape shape, Json& list) {
  Json kept = Json::array();
  for (Json& item : list) {
    if (!IsOurs(shape, item)) kept.push_back(std::move(item));
  }
  list = std::move(kept);
}

void InsertRecords(Json& output, Json records) {
  const auto first = [&output](const char* type) {
    return std::find_if(output.begin(), output.end(),
                        [type](const Json& item) { return StringMember(item, "type") == type; });
  };
  auto place = first("message");
  if (place == output.end()) place = first("function_call");
  output.insert(place, records.begin(), records.end());
}

void FinishChat(Json& response, Json records) {
  Json* choices = Member(response, "choices");
  if (choices == nullptr || !choices->is_array()) return;
  for (std::size_t i = 0; i < choices->size(); ++i) {
    Json& choice = (*choices)[i];
    Json* calls = CallList(RequestShape::kChatCompletions, response, i);
    if (calls != nullptr) {
      const bool had_calls = !calls->empty();
      RemoveOurs(RequestShape::kChatCompletions, *calls);
      if (had_calls && calls->empty()) {
        choice["message"].erase("tool_calls");
        if (StringMember(choice, "finish_reason") == "tool_calls") choice["finish_reason"] = "stop";
      }
    }
  }
  if (records.empty() || choices->empty()) return;
  Json* message = Member(choices->front(), "message");
  if (message == nullptr || !message->is_object()) return;
  Json& fields = (*message)["provider_specific_fields"];
  if (!fields.is_object()) fields = Json::object();
  fields["code_interpreter_calls"] = std::move(records);
}

}  // namespace

Result<ModelTurn> ReadTurn(RequestShape shape, std::string_view response_json) {
  Result<Json> response = ParseResponse(response_json);
  if (!response) return std::move(response).error();
  ModelTurn turn;
  Json* list = CallList(shape, *response);
  if (list == nullptr) return turn;
  Json fingerprint = Json::array();
  for (const Json& item : *list) {
    if (IsClientCall(shape, item)) turn.has_client_calls = true;
    std::optional<FunctionCall> call = ReadCall(shape, item);
    if (!call || call->name != kCodeExecutionToolName) continue;
    std::optional<std::string> code = CodeOf(call->arguments);
    fingerprint.push_back(code ? Json{{"code", *code}} : Json(call->arguments));
    turn.calls.push_back({std::move(call->id), std::move(call->arguments), std::move(code)});
  }
  turn.fingerprint = fingerprint.dump();
  return turn;
}

Result<std::string> FinalResponse(RequestShape shape, std::string_view response_json,
                                  const std::vector<CodeInterpreterCall>& records) {
  Result<Json> response = ParseResponse(response_json);
  if (!response) return std::move(response).error();
  Json items = Json::array();
  for (const CodeInterpreterCall& record : records) items.push_back(ToRecord(record));
  if (shape == RequestShape::kChatCompletions) {
    FinishChat(*response, std::move(items));
  } else if (Json* output = CallList(shape, *response)) {
    RemoveOurs(shape, *output);
    InsertRecords(*output, std::move(items));
  }
  return response->dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace opensandbox::internal

#include "opensandbox/interception/event_stream.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "client/interception/model_json.h"

namespace opensandbox {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string StringMember(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

class ResponsesStream {
 public:
  std::string Write(const Json& response) {
    Json begun = response;
    begun["status"] = "in_progress";
    begun["output"] = Json::array();
    begun.erase("usage");
    Event("response.created", {{"response", begun}});
    Event("response.in_progress", {{"response", begun}});
    const auto output = response.find("output");
    if (output != response.end() && output->is_array()) {
      for (std::size_t i = 0; i < output->size(); ++i) Item((*output)[i], i);
    }
    const std::string status = StringMember(response, "status");
    const bool other_end = status == "failed" || status == "incomplete";
    Event("response." + (other_end ? status : "completed"), {{"response", response}});
    return std::move(text_);
  }

 private:
  void Event(const std::string& type, Json fields) {
    Json event = {{"type", type}, {"sequence_number", next_number_++}};
    event.update(fields);
    text_ += "event: " + type + "\ndata: " + Dump(event) + "\n\n";
  }

  void Item(const Json& item, std::size_t index) {
    Json begun = item;
    const std::string type = StringMember(item, "type");
    const auto content = item.is_object() ? item.find("content") : item.end();
    const bool has_content = type == "message" && content != item.end() && content->is_array();
    if (has_content) begun["content"] = Json::array();
    if (type == "function_call") begun["arguments"] = "";
    if (item.is_object() && item.contains("status")) begun["status"] = "in_progress";
    Event("response.output_item.added", {{"output_index", index}, {"item", begun}});
    const Json place = {{"item_id", StringMember(item, "id")}, {"output_index", index}};
    if (has_content) {
      for (std::size_t i = 0; i < content->size(); ++i) Part((*content)[i], i, place);
    }
    if (type == "function_call") {
      const std::string arguments = StringMember(item, "arguments");
      EventAt(place, "response.function_call_arguments.delta", {{"delta", arguments}});
      EventAt(place, "response.function_call_arguments.done", {{"arguments", arguments}});
    }
    Event("response.output_item.done", {{"output_index", index}, {"item", item}});
  }

  void Part(const Json& part, std::size_t index, Json place) {
    place["content_index"] = index;
    Json begun = part;
    const bool is_text = StringMember(part, "type") == "output_text";
    if (is_text) begun["text"] = "";
    EventAt(place, "response.content_part.added", {{"part", begun}});
    if (is_text) {
      const std::string text = StringMember(part, "text");
      EventAt(place, "response.output_text.delta", {{"delta", text}});
      EventAt(place, "response.output_text.done", {{"text", text}});
    }
    EventAt(place, "response.content_part.done", {{"part", part}});
  }

  void EventAt(const Json& place, const std::string& type, const Json& fields) {
    Json all = place;
    all.update(fields);
    Event(type, std::move(all));
  }

  std::string text_;
  std::uint64_t next_number_ = 0;
};

class ChatStream {
 public:
  std::string Write(const Json& response, bool include_usage) {
    Json frame = Json::object();
    for (const auto& [key, value] : response.items()) {
      if (key != "choices" && key != "usage") frame[key] = value;
    }
    frame["object"] = "chat.completion.chunk";
    const auto choices = response.find("choices");
    if (choices != response.end() && choices->is_array()) {
      for (std::size_t i = 0; i < choices->size(); ++i) Choice(frame, (*choices)[i], i);
    }
    if (include_usage) {
      Json last = frame;
      last["choices"] = Json::array();
      last["usage"] = response.value("usage", Json());
      Chunk(last);
    }
    return text_ + "data: [DONE]\n\n";
  }

 private:
  void Chunk(const Json& chunk) { text_ += "data: " + Dump(chunk) + "\n\n"; }

  void Choice(const Json& frame, const Json& choice, std::size_t index) {
    const auto delta = [&](Json fields, Json finish_reason) {
      Json chunk = frame;
      chunk["choices"] =
          Json::array({{{"index", index}, {"delta", std::move(fields)}, {"finish_reason", std::move(finish_reason)}}});
      Chunk(chunk);
    };
    const Json message = choice.is_object() ? choice.value("message", Json::object()) : Json::object();
    delta({{"role", "assistant"}, {"content", ""}}, nullptr);
    if (message.is_object()) {
      for (const auto& [key, value] : message.items()) {
        if (key == "role" || value.is_null()) continue;
        if (key != "tool_calls" || !value.is_array()) {
          delta({{key, value}}, nullptr);
          continue;
        }
        Json calls = value;
        for (std::size_t i = 0; i < calls.size(); ++i) {
          if (calls[i].is_object()) calls[i]["index"] = i;
        }
        delta({{key, std::move(calls)}}, nullptr);
      }
    }
    delta(Json::object(), choice.is_object() ? choice.value("finish_reason", Json("stop")) : Json("stop"));
  }

  std::string text_;
};

}  // namespace

Result<std::string> ToEventStream(RequestShape shape, std::string_view response_json, bool include_usage) {
  const Json response = internal::NestingDepth(response_json) <= internal::kJsonDepthMax
                            ? Json::parse(response_json, nullptr, false)
                            : Json(Json::value_t::discarded);
  if (!response.is_object()) {
    Error error;
    error.kind = ErrorKind::kInvalidArgument;
    error.message = "The answer to stream is no JSON object.";
    return error;
  }
  if (shape == RequestShape::kResponses) return ResponsesStream().Write(response);
  return ChatStream().Write(response, include_usage);
}

}  // namespace opensandbox

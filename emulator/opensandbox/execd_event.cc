#include "emulator/opensandbox/execd_event.h"

#include <map>

#include "emulator/opensandbox/execd_json.h"

namespace opensandbox::emulator {
namespace {

std::string UnixMs(WallTime at) {
  return std::to_string(std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch()).count());
}

bool IsJsonType(std::string_view mime) {
  static constexpr std::string_view kSuffix = "+json";
  return mime == "application/json" ||
         (mime.size() > kSuffix.size() && mime.substr(mime.size() - kSuffix.size()) == kSuffix);
}

void AppendResults(std::string& line, const std::vector<std::pair<std::string, std::string>>& results) {
  // A Go map: sorted by key, the last of two equal ones wins.
  std::map<std::string_view, std::pair<std::string_view, bool>> sorted;
  for (const auto& [mime, value] : results) {
    sorted[mime == "text/plain" ? std::string_view("text") : std::string_view(mime)] = {value, IsJsonType(mime)};
  }
  line += ",\"results\":{";
  bool first = true;
  for (const auto& [key, value] : sorted) {
    if (!first) line.push_back(',');
    first = false;
    AppendGoString(line, key);
    line.push_back(':');
    if (!value.second || !AppendGoJson(line, value.first)) AppendGoString(line, value.first);
  }
  line.push_back('}');
}

void AppendError(std::string& line, const ExecdEvent::ErrorOutput& error) {
  line += ",\"error\":{\"ename\":";
  AppendGoString(line, error.name);
  line += ",\"evalue\":";
  AppendGoString(line, error.value);
  line += ",\"traceback\":";
  if (error.traceback == nullptr) {
    line += "null";
  } else {
    line.push_back('[');
    bool first = true;
    for (const std::string& entry : *error.traceback) {
      if (!first) line.push_back(',');
      first = false;
      AppendGoString(line, entry);
    }
    line.push_back(']');
  }
  line.push_back('}');
}

}  // namespace

std::string ExecdEvent::Line() const {
  std::string line = "{\"type\":";
  line.reserve(text.size() + 96);
  AppendGoString(line, type);
  if (!text.empty()) {
    line += ",\"text\":";
    AppendGoString(line, text);
  }
  if (execution_count != 0) line += ",\"execution_count\":" + std::to_string(execution_count);
  if (execution_time_ms != 0) line += ",\"execution_time\":" + std::to_string(execution_time_ms);
  line += ",\"timestamp\":" + UnixMs(at);
  if (results != nullptr && !results->empty()) AppendResults(line, *results);
  if (error != nullptr) AppendError(line, *error);
  line += "}\n\n";
  return line;
}

std::string EventHead(std::string_view type) {
  std::string head = "{\"type\":";
  AppendGoString(head, type);
  head += ",\"text\":\"";
  return head;
}

std::string EventTail(WallTime at) { return "\",\"timestamp\":" + UnixMs(at) + "}\n\n"; }

std::string BareErrorObject(std::string_view code, std::string_view message) {
  std::string object = "{\"code\":";
  AppendGoString(object, code);
  if (!message.empty()) {
    object += ",\"message\":";
    AppendGoString(object, message);
  }
  object.push_back('}');
  return object;
}

}  // namespace opensandbox::emulator

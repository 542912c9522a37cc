#include "tests/unit/opensandbox/execd_fixture.h"

#include <nlohmann/json.hpp>

namespace opensandbox::emulator {

std::vector<std::string> SandboxPortTest::Events(const Body& body) {
  std::vector<std::string> events;
  std::string text = body.Text();
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find("\n\n", at);
    if (end == std::string::npos) end = text.size();
    const std::string line = text.substr(at, end - at);
    at = end + 2;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("type")) {
      events.push_back("raw " + line);
      continue;
    }
    std::string event = json["type"].get<std::string>();
    const auto add = [&event](const std::string& word) { event.append(1, ' ').append(word); };
    if (json.contains("text")) add(json["text"].get<std::string>());
    for (const char* field : {"execution_count", "execution_time", "results"}) {
      if (json.contains(field)) add(json[field].dump());
    }
    if (json.contains("error")) {
      add(json["error"]["ename"].get<std::string>().append(": ").append(json["error"]["evalue"].get<std::string>()));
    }
    events.push_back(event);
  }
  return events;
}

}  // namespace opensandbox::emulator

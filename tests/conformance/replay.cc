#include "tests/conformance/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

namespace opensandbox::emulator::conformance {
namespace {

using nlohmann::json;

std::string DecodeBase64(const std::string& text) {
  static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned buffer = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string::npos) continue;
    buffer = (buffer << 6) | static_cast<unsigned>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<char>((buffer >> bits) & 0xFF));
    }
  }
  return bytes;
}

std::string ReadBody(const json& message, bool& unreadable) {
  const auto body = message.find("body");
  if (body == message.end() || body->is_null()) return "";
  if (body->is_string()) return body->get<std::string>();
  if (body->contains("base64")) return DecodeBase64((*body)["base64"].get<std::string>());
  unreadable = true;
  return "";
}

std::vector<Header> ReadHeaders(const json& message) {
  std::vector<Header> headers;
  for (const json& header : message["headers"]) {
    headers.push_back({header[0].get<std::string>(), header[1].get<std::string>()});
  }
  return headers;
}

bool Has(const Recording& entry, const std::string& kind) {
  return std::find(entry.normalise.begin(), entry.normalise.end(), kind) != entry.normalise.end();
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string ReplaceAll(std::string text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

struct TextRule {
  const char* kind;
  std::regex pattern;
  const char* replacement;
};

// In the order of the recordings' README.
const std::vector<TextRule>& TextRules() {
  static const auto* const kRules = new std::vector<TextRule>{
      {"token", std::regex("(OPENSANDBOX-EGRESS-AUTH\":\")[A-Za-z0-9_-]{32}\""), "$1<token>\""},
      {"uuid", std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"), "<uuid>"},
      {"hex64", std::regex("\\b[0-9a-f]{64}\\b"), "<hex64>"},
      {"hex32", std::regex("\\b[0-9a-f]{32}\\b"), "<hex32>"},
      {"hex12", std::regex("\\b[0-9a-f]{12}\\b"), "<hex12>"},
      {"timestamp", std::regex("20(26|27|36)-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?(Z|\\+00:00)"),
       "<timestamp>"},
      {"event-timestamp", std::regex("\"timestamp\":[0-9]{13}"), "\"timestamp\":<ms>"},
      {"duration", std::regex("\"execution_time\":[0-9]+,"), ""},
      {"port", std::regex(":(4|5)[0-9]{4}(?=[/\"])"), ":<port>"},
  };
  return *kRules;
}

std::string NormaliseText(std::string text, const Recording& entry) {
  for (const TextRule& rule : TextRules()) {
    if (Has(entry, rule.kind)) text = std::regex_replace(text, rule.pattern, rule.replacement);
  }
  return text;
}

std::string SortedList(const std::string& value) {
  std::vector<std::string> items;
  std::istringstream in(value);
  for (std::string item; std::getline(in, item, ',');) {
    item.erase(0, item.find_first_not_of(' '));
    items.push_back(item);
  }
  std::sort(items.begin(), items.end());
  std::string sorted;
  for (const std::string& item : items) sorted += item + ", ";
  return sorted;
}

Reply Normalise(Reply reply, const Recording& entry) {
  for (Header& header : reply.headers) {
    const std::string name = Lower(header.name);
    if (Has(entry, "header:" + name)) {
      header.value = "<" + name + ">";
    } else if (name == "allow" && Has(entry, "header:allow-order")) {
      header.value = SortedList(header.value);
    } else {
      header.value = NormaliseText(std::move(header.value), entry);
    }
  }
  reply.body = NormaliseText(std::move(reply.body), entry);
  return reply;
}

std::string Show(const Reply& reply) {
  std::string text = std::to_string(reply.status) + " " + reply.reason + "\n";
  for (const Header& header : reply.headers) text += header.name + ": " + header.value + "\n";
  return text + "\n" + reply.body;
}

// The value that a later request of the group needs: by JSON pointer, header name or regular expression.
std::optional<std::string> Extract(const std::string& where, const Reply& reply) {
  if (where.rfind("header:", 0) == 0) {
    for (const Header& header : reply.headers) {
      if (Lower(header.name) == Lower(where.substr(7))) return header.value;
    }
    return std::nullopt;
  }
  if (where.rfind('/', 0) == 0) {
    const json body = json::parse(reply.body, nullptr, false);
    const json::json_pointer pointer(where);
    if (body.is_discarded() || !body.contains(pointer) || !body[pointer].is_string()) return std::nullopt;
    return body[pointer].get<std::string>();
  }
  std::smatch match;
  if (!std::regex_search(reply.body, match, std::regex(where)) || match.size() < 2) return std::nullopt;
  return match[1].str();
}

using Replacements = std::vector<std::pair<std::string, std::string>>;  // recorded, live

std::string Replace(std::string text, const Replacements& replacements) {
  for (const auto& [recorded, live] : replacements) text = ReplaceAll(std::move(text), recorded, live);
  return text;
}

void Replace(std::vector<Header>& headers, const Replacements& replacements) {
  for (Header& header : headers) header.value = Replace(std::move(header.value), replacements);
}

// The body as the rule wants it, and a length that follows from it.
Reply WithRule(Reply reply, const Recording& entry, const ExtraRule& extra) {
  const std::size_t length = reply.body.size();
  reply.body = extra(std::move(reply.body), entry);
  for (Header& header : reply.headers) {
    if (Lower(header.name) == "content-length" && header.value == std::to_string(length)) {
      header.value = std::to_string(reply.body.size());
    }
  }
  return reply;
}

void UnpackChunks(Request& request) {
  std::string body;
  std::string_view rest = request.body;
  while (true) {
    const std::size_t line_end = rest.find("\r\n");
    if (line_end == std::string_view::npos) break;
    const std::size_t size = std::stoul(std::string(rest.substr(0, line_end)), nullptr, 16);
    if (size == 0 || rest.size() < line_end + 2 + size) break;
    body += rest.substr(line_end + 2, size);
    rest.remove_prefix(std::min(rest.size(), line_end + 2 + size + 2));
  }
  request.body = body;
}

}  // namespace

std::vector<Recording> LoadRecordings(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << "can't read " << path;
  std::vector<Recording> recordings;
  for (std::string line; std::getline(file, line);) {
    const json entry = json::parse(line, nullptr, false);
    if (entry.is_discarded()) {
      ADD_FAILURE() << path << ": line " << recordings.size() + 1 << " is no JSON";
      return {};
    }
    Recording recording;
    recording.id = entry["id"];
    recording.group = entry["group"];
    const json& request = entry["request"];
    recording.method = request["method"];
    recording.target = request["target"];
    recording.headers = ReadHeaders(request);
    recording.body = ReadBody(request, recording.unreadable);
    const json& response = entry["response"];
    recording.reply.status = response["status"];
    recording.reply.reason = response["reason"];
    recording.reply.headers = ReadHeaders(response);
    recording.reply.body = ReadBody(response, recording.unreadable);
    for (const auto& [name, where] : entry["vars"].items()) recording.vars.emplace_back(name, where);
    for (const json& kind : entry["normalise"]) recording.normalise.push_back(kind);
    recordings.push_back(std::move(recording));
  }
  return recordings;
}

std::vector<std::string> GroupsOf(const std::vector<Recording>& recordings) {
  std::vector<std::string> groups;
  for (const Recording& entry : recordings) {
    if (groups.empty() || groups.back() != entry.group) groups.push_back(entry.group);
  }
  return groups;
}

std::map<std::string, std::string> LoadKnownDifferences(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << "can't read " << path;
  std::map<std::string, std::string> differences;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t bar = line.find(" | ");
    if (bar == std::string::npos || line.size() <= bar + 3) {
      ADD_FAILURE() << path << ": no reason in: " << line;
      continue;
    }
    const bool fresh = differences.emplace(line.substr(0, bar), line.substr(bar + 3)).second;
    EXPECT_TRUE(fresh) << path << ": twice: " << line;
  }
  return differences;
}

Request MakeRequest(const Recording& entry) {
  Request request;
  request.method = entry.method;
  request.target = entry.target;
  const std::size_t question = entry.target.find('?');
  request.path = entry.target.substr(0, question);
  if (question != std::string::npos) request.query = entry.target.substr(question + 1);
  request.headers = entry.headers;
  request.body = entry.body;
  request.has_body = request.FindHeader("content-length").has_value();
  request.peer = "127.0.0.1:50412";
  request.local = "127.0.0.1:8080";
  if (request.FindHeader("transfer-encoding").has_value()) {
    request.has_body = true;
    UnpackChunks(request);
  }
  return request;
}

Reply Render(ReplyPlan plan, TimePoint now, WallTime wall_now) {
  Reply reply;
  reply.status = plan.status;
  reply.reason = plan.reason.empty() ? std::string(StandardReason(plan.status)) : plan.reason;
  reply.headers = plan.headers;
  reply.body = plan.body;
  while (plan.source != nullptr) {
    BodyStep step = plan.source->Next(now, wall_now);
    if (step.kind == BodyStep::Kind::kEnd) break;
    if (step.kind == BodyStep::Kind::kBytes) {
      reply.body += step.bytes;
      continue;
    }
    if (!step.until.has_value()) break;  // it waits for somebody else
    wall_now += *step.until - now;
    now = *step.until;
  }
  return reply;
}

std::vector<Outcome> ReplayGroup(const std::vector<Recording>& recordings, const std::string& group,
                                 const Exchange& exchange, const ExtraRule& extra) {
  std::vector<Outcome> outcomes;
  Replacements replacements;
  for (const Recording& original : recordings) {
    if (original.group != group) continue;
    Outcome outcome;
    outcome.id = original.id;
    if (original.unreadable) {
      outcome.difference = "its body is compressed in the recording";
      outcomes.push_back(std::move(outcome));
      continue;
    }
    Recording entry = original;
    entry.target = Replace(std::move(entry.target), replacements);
    entry.body = Replace(std::move(entry.body), replacements);
    Replace(entry.headers, replacements);
    entry.reply.body = Replace(std::move(entry.reply.body), replacements);
    Replace(entry.reply.headers, replacements);

    const Reply live = exchange(entry, MakeRequest(entry));
    std::string expected = Show(Normalise(entry.reply, entry));
    std::string actual = Show(Normalise(live, entry));
    outcome.matched = expected == actual;
    if (!outcome.matched && extra) {
      expected = Show(Normalise(WithRule(entry.reply, entry, extra), entry));
      actual = Show(Normalise(WithRule(live, entry, extra), entry));
      outcome.matched = outcome.needed_extra_rule = expected == actual;
    }
    if (!outcome.matched) outcome.difference = "--- recorded\n" + expected + "\n--- ours\n" + actual;
    for (const auto& [name, where] : original.vars) {
      const std::optional<std::string> recorded = Extract(where, original.reply);
      const std::optional<std::string> ours = Extract(where, live);
      if (recorded.has_value() && ours.has_value()) replacements.emplace_back(*recorded, *ours);
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace opensandbox::emulator::conformance

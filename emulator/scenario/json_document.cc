#include "emulator/scenario/json_document.h"

namespace opensandbox::emulator {

const JsonNode* JsonNode::Find(std::string_view name) const {
  for (const JsonMember& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

std::string PointerTo(const std::string& pointer, std::string_view name) {
  std::string result = pointer + "/";
  for (const char c : name) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

std::string PointerTo(const std::string& pointer, std::size_t index) { return pointer + "/" + std::to_string(index); }

namespace {

void AppendEscaped(std::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : text) {
    switch (c) {
      case '"':
        *out += "\\\"";
        break;
      case '\\':
        *out += "\\\\";
        break;
      case '\n':
        *out += "\\n";
        break;
      case '\r':
        *out += "\\r";
        break;
      case '\t':
        *out += "\\t";
        break;
      case '\b':
        *out += "\\b";
        break;
      case '\f':
        *out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          *out += "\\u00";
          *out += kHex[static_cast<unsigned char>(c) >> 4];
          *out += kHex[static_cast<unsigned char>(c) & 15];
        } else {
          *out += c;
        }
    }
  }
}

void AppendCompact(const JsonNode& node, std::string* out) {
  switch (node.kind) {
    case JsonNode::Kind::kBroken:
    case JsonNode::Kind::kNull:
      *out += "null";
      return;
    case JsonNode::Kind::kBool:
      *out += node.boolean ? "true" : "false";
      return;
    case JsonNode::Kind::kNumber:
      *out += node.text;
      return;
    case JsonNode::Kind::kString:
      *out += '"';
      AppendEscaped(node.text, out);
      *out += '"';
      return;
    case JsonNode::Kind::kArray:
      *out += '[';
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) *out += ',';
        AppendCompact(node.items[i], out);
      }
      *out += ']';
      return;
    case JsonNode::Kind::kObject:
      *out += '{';
      for (std::size_t i = 0; i < node.members.size(); ++i) {
        if (i > 0) *out += ',';
        *out += '"';
        AppendEscaped(node.members[i].name, out);
        *out += "\":";
        AppendCompact(node.members[i].value, out);
      }
      *out += '}';
      return;
  }
}

}  // namespace

std::string Quoted(std::string_view text) {
  constexpr std::size_t kBytesMax = 60;
  std::string out = "\"";
  if (text.size() <= kBytesMax) {
    AppendEscaped(text, &out);
    return out + "\"";
  }
  std::size_t length = kBytesMax;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  AppendEscaped(text.substr(0, length), &out);
  return out + "...\"";
}

std::string InWords(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return "null";
    case JsonNode::Kind::kBool:
      return node.boolean ? "true" : "false";
    case JsonNode::Kind::kNumber:
      return "the number " + node.text.substr(0, 40);
    case JsonNode::Kind::kString:
      return node.text.empty() ? "an empty string" : Quoted(node.text);
    case JsonNode::Kind::kArray:
      return "an array";
    case JsonNode::Kind::kObject:
      return "an object";
    case JsonNode::Kind::kBroken:
      return "something unreadable";
  }
  return "";
}

std::string CompactJson(const JsonNode& node) {
  std::string out;
  AppendCompact(node, &out);
  return out;
}

}  // namespace opensandbox::emulator

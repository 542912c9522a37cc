// JSON with // and /* */ comments, read into a tree that knows the line of everything in it.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_JSON_DOCUMENT_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_JSON_DOCUMENT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/scenario/loader.h"

namespace opensandbox::emulator {

struct JsonMember;

// Why not nlohmann/json: its values know no positions, it stops at the first mistake, and of two equal names it keeps
// one without a word.
struct JsonNode {
  // kBroken: something stands there that is no JSON value; it was reported, so nobody need report it again.
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject, kBroken };
  Kind kind = Kind::kNull;
  int line = 0;  // from 1
  bool boolean = false;
  std::string text;  // kString: decoded, valid UTF-8; kNumber: as written
  std::vector<JsonNode> items;
  std::vector<JsonMember> members;  // in order; of equal names only the first

  const JsonNode* Find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  int line = 0;
  JsonNode value;
};

// Mistakes go to `problems`, with line and JSON pointer and the column in the message. What can be guessed (a comma too
// many or missing, single quotes, a name without quotes, a bad escape or number ...) is reported and read on; nullopt
// after a mistake behind which nothing can be made out.
std::optional<JsonNode> ParseJson(std::string_view text, const std::string& file, std::vector<Problem>* problems);

// "a string", "the number 5", "an object": what stands at a node, in words.
std::string InWords(const JsonNode& node);
// Text in quotes for a message: long ones cut, control characters escaped.
std::string Quoted(std::string_view text);
// The compact JSON text of a node, members in order, UTF-8 not escaped.
std::string CompactJson(const JsonNode& node);

// `pointer` + "/" + `name` with '~' and '/' of the name escaped (RFC 6901).
std::string PointerTo(const std::string& pointer, std::string_view name);
std::string PointerTo(const std::string& pointer, std::size_t index);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_JSON_DOCUMENT_H_

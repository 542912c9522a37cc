#include "emulator/scenario/object_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "emulator/scenario/regex.h"
#include "emulator/scenario/words.h"
#include "opensandbox/base/units.h"

namespace opensandbox::emulator {
namespace {

constexpr Duration kTimeMax = std::chrono::hours(24 * 365 * 10);

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

std::string Found(const JsonNode& node, const std::string& expected) {
  return "found " + InWords(node) + ", expected " + expected;
}

void Complain(LoadContext& context, const Spot& spot, const std::string& message) {
  if (spot.node->kind == JsonNode::Kind::kBroken) return;  // the parser has said it
  context.Add(spot.node->line, spot.pointer, message);
}

// A whole number without fraction or exponent.
std::optional<std::uint64_t> WholeNumber(const JsonNode& node) {
  if (node.kind != JsonNode::Kind::kNumber) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [rest, error] = std::from_chars(node.text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::string Limits(std::uint64_t min, std::uint64_t max) {
  if (max >= kCountMax) return "a whole number of at least " + std::to_string(min);
  return "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
}

}  // namespace

std::string UnknownWord(const std::string& found, std::string_view word, const std::vector<std::string>& words) {
  const std::string nearest = NearestWord(word, words);
  return "found " + found + ", expected " + OneOf(words) +
         (nearest.empty() ? "" : " (did you mean \"" + nearest + "\"?)");
}

std::optional<TextPattern> ReadPattern(LoadContext& context, const Spot& spot) {
  const JsonNode& node = *spot.node;
  if (node.kind == JsonNode::Kind::kObject) {
    const ObjectReader reader(context, spot, "exactText");
    const std::optional<std::string> text = reader.Text("exact", true);
    if (!text) return std::nullopt;
    return TextPattern{*text, true, nullptr};
  }
  if (node.kind != JsonNode::Kind::kString) {
    Complain(context, spot,
             Found(node, "text: \"/a regular expression/\", a glob with * or ?, an exact value, or {\"exact\": ...}"));
    return std::nullopt;
  }
  TextPattern pattern{node.text, false, nullptr};
  if (node.text.size() >= 2 && node.text.front() == '/' && node.text.back() == '/') {
    std::string error;
    pattern.regex = Regex::Compile(std::string_view(node.text).substr(1, node.text.size() - 2), &error);
    if (pattern.regex == nullptr) {
      Complain(context, spot, "found " + Quoted(node.text) + ", expected a regular expression: " + error);
      return std::nullopt;
    }
  }
  return pattern;
}

std::optional<std::string> ReadWord(LoadContext& context, const Spot& spot, const std::vector<std::string>& words) {
  const JsonNode& node = *spot.node;
  if (node.kind == JsonNode::Kind::kString) {
    if (std::find(words.begin(), words.end(), node.text) != words.end()) return node.text;
    Complain(context, spot, UnknownWord(InWords(node), node.text, words));
  } else {
    Complain(context, spot, Found(node, OneOf(words)));
  }
  return std::nullopt;
}

std::optional<Duration> ReadTime(LoadContext& context, const Spot& spot, bool zero_allowed) {
  const JsonNode& node = *spot.node;
  std::optional<Duration> time;
  if (node.kind == JsonNode::Kind::kString) time = ParseDuration(node.text);
  if (!time) {
    Complain(context, spot, Found(node, "a duration such as \"250ms\", \"1.5s\", \"5m\" or \"24h\""));
  } else if (*time > kTimeMax) {
    Complain(context, spot, Found(node, "a duration of at most ten years"));
    return std::nullopt;
  } else if (!zero_allowed && *time == Duration::zero()) {
    Complain(context, spot, Found(node, "a duration above zero"));
    return std::nullopt;
  }
  return time;
}

ObjectReader::ObjectReader(LoadContext& context, const Spot& spot, std::string_view shape)
    : context_(context), spot_(spot), shape_(ShapeNamed(shape)) {
  const JsonNode& node = *spot_.node;
  is_object_ = node.kind == JsonNode::Kind::kObject;
  if (!is_object_) {
    emulator::Complain(context_, spot_, Found(node, "an object"));
    return;
  }
  const std::vector<std::string> names = shape_.FieldNames();
  for (const JsonMember& member : node.members) {
    if (shape_.Find(member.name) != nullptr) continue;
    const std::string nearest = NearestWord(member.name, names);
    context_.Add(member.line, PointerTo(spot_.pointer, member.name),
                 "found the unknown field " + Quoted(member.name) +
                     (nearest.empty() ? ", expected " + OneOf(names)
                                      : ", expected a field of this object (did you mean \"" + nearest + "\"?)"));
  }
  for (const FieldShape& field : shape_.fields) {
    if (field.required && node.Find(field.name) == nullptr) {
      // A misspelt one was just reported; twice would not help.
      const bool misspelt = std::any_of(node.members.begin(), node.members.end(), [&](const JsonMember& member) {
        return shape_.Find(member.name) == nullptr && NearestWord(member.name, names) == field.name;
      });
      if (!misspelt) ComplainHere("found no field \"" + field.name + "\", expected it here");
    }
  }
}

bool ObjectReader::Has(std::string_view name) const { return is_object_ && spot_.node->Find(name) != nullptr; }

std::optional<Spot> ObjectReader::Find(std::string_view name) const {
  if (shape_.Find(name) == nullptr) std::abort();  // a programmer's mistake: the table is the truth
  if (!is_object_) return std::nullopt;
  const JsonNode* node = spot_.node->Find(name);
  if (node == nullptr) return std::nullopt;
  return Spot{node, PointerTo(spot_.pointer, name)};
}

const JsonNode* ObjectReader::Usable(std::string_view name, JsonNode::Kind kind, const char* expected) const {
  const std::optional<Spot> spot = Find(name);
  if (!spot) return nullptr;
  if (spot->node->kind == kind) return spot->node;
  emulator::Complain(context_, *spot, Found(*spot->node, expected));
  return nullptr;
}

std::optional<std::string> ObjectReader::Text(std::string_view name, bool blank_allowed) const {
  const JsonNode* node = Usable(name, JsonNode::Kind::kString, "text");
  if (node == nullptr) return std::nullopt;
  if (!blank_allowed && IsBlank(node->text)) {
    Complain(name, Found(*node, "text that is not blank"));
    return std::nullopt;
  }
  return node->text;
}

std::optional<std::string> ObjectReader::Word(std::string_view name) const {
  const std::optional<Spot> spot = Find(name);
  if (!spot) return std::nullopt;
  return ReadWord(context_, *spot, shape_.Find(name)->words);
}

std::optional<TextPattern> ObjectReader::Pattern(std::string_view name) const {
  const std::optional<Spot> spot = Find(name);
  if (!spot) return std::nullopt;
  return ReadPattern(context_, *spot);
}

std::optional<Duration> ObjectReader::Time(std::string_view name, bool zero_allowed) const {
  const std::optional<Spot> spot = Find(name);
  if (!spot) return std::nullopt;
  return ReadTime(context_, *spot, zero_allowed);
}

std::optional<std::uint64_t> ObjectReader::Count(std::string_view name, std::uint64_t min, std::uint64_t max) const {
  const std::optional<Spot> spot = Find(name);
  if (!spot) return std::nullopt;
  const std::optional<std::uint64_t> value = WholeNumber(*spot->node);
  if (value && *value >= min && *value <= max) return value;
  emulator::Complain(context_, *spot, Found(*spot->node, Limits(min, max)));
  return std::nullopt;
}

std::optional<int> ObjectReader::SmallCount(std::string_view name, int min, int max) const {
  const auto value = Count(name, static_cast<std::uint64_t>(min), static_cast<std::uint64_t>(max));
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<std::uint64_t> ObjectReader::Bytes(std::string_view name, std::uint64_t min) const {
  const std::optional<Spot> spot = Find(name);
  if (!spot) return std::nullopt;
  const JsonNode& node = *spot->node;
  std::optional<std::uint64_t> value = WholeNumber(node);
  if (node.kind == JsonNode::Kind::kString) value = ParseByteSize(node.text);
  if (value && *value >= min && *value <= kCountMax) return value;
  emulator::Complain(context_, *spot,
                     Found(node, "a number of bytes such as 512, \"10KiB\" or \"1.5MiB\"" +
                                     (min > 0 ? ", at least " + std::to_string(min) : std::string())));
  return std::nullopt;
}

std::optional<bool> ObjectReader::Flag(std::string_view name) const {
  const JsonNode* node = Usable(name, JsonNode::Kind::kBool, "true or false");
  if (node == nullptr) return std::nullopt;
  return node->boolean;
}

std::optional<double> ObjectReader::Number(std::string_view name) const {
  const JsonNode* node = Usable(name, JsonNode::Kind::kNumber, "a number");
  if (node == nullptr) return std::nullopt;
  return std::strtod(node->text.c_str(), nullptr);
}

std::vector<std::pair<std::string, std::string>> ObjectReader::TextMap(std::string_view name) const {
  std::vector<std::pair<std::string, std::string>> map;
  const JsonNode* node = Usable(name, JsonNode::Kind::kObject, "an object of names and texts");
  if (node == nullptr) return map;
  const std::string pointer = PointerTo(spot_.pointer, name);
  for (const JsonMember& member : node->members) {
    if (member.value.kind == JsonNode::Kind::kString) {
      map.emplace_back(member.name, member.value.text);
    } else {
      emulator::Complain(context_, {&member.value, PointerTo(pointer, member.name)}, Found(member.value, "text"));
    }
  }
  return map;
}

std::map<std::string, TextPattern> ObjectReader::PatternMap(std::string_view name) const {
  std::map<std::string, TextPattern> map;
  const JsonNode* node = Usable(name, JsonNode::Kind::kObject, "an object of names and patterns");
  if (node == nullptr) return map;
  const std::string pointer = PointerTo(spot_.pointer, name);
  for (const JsonMember& member : node->members) {
    const auto pattern = ReadPattern(context_, {&member.value, PointerTo(pointer, member.name)});
    if (pattern) map.emplace(member.name, *pattern);
  }
  return map;
}

std::vector<Spot> ObjectReader::Items(std::string_view name, bool empty_allowed) const {
  std::vector<Spot> items;
  const JsonNode* node = Usable(name, JsonNode::Kind::kArray, "an array");
  if (node == nullptr) return items;
  if (!empty_allowed && node->items.empty()) Complain(name, "found an empty array, expected at least one item");
  const std::string pointer = PointerTo(spot_.pointer, name);
  for (std::size_t i = 0; i < node->items.size(); ++i) items.push_back({&node->items[i], PointerTo(pointer, i)});
  return items;
}

std::vector<std::string> ObjectReader::TextItems(std::string_view name) const {
  std::vector<std::string> texts;
  for (const Spot& item : Items(name)) {
    if (item.node->kind == JsonNode::Kind::kString && !IsBlank(item.node->text)) {
      texts.push_back(item.node->text);
    } else {
      emulator::Complain(context_, item, Found(*item.node, "text that is not blank"));
    }
  }
  return texts;
}

std::vector<std::string> ObjectReader::WordItems(std::string_view name) const {
  std::vector<std::string> words;
  for (const Spot& item : Items(name)) {
    if (auto word = ReadWord(context_, item, shape_.Find(name)->words)) words.push_back(*std::move(word));
  }
  return words;
}

void ObjectReader::Complain(std::string_view name, const std::string& message) const {
  const std::optional<Spot> spot = Find(name);
  if (spot) {
    emulator::Complain(context_, *spot, message);
  } else {
    context_.Add(spot_.node->line, PointerTo(spot_.pointer, name), message);
  }
}

void ObjectReader::ComplainHere(const std::string& message) const { emulator::Complain(context_, spot_, message); }

bool ObjectReader::AtMostOne(const std::vector<std::string>& names) const {
  const std::string first = FirstOf(names);
  bool more = false;
  for (const std::string& name : names) {
    if (name == first || !Has(name)) continue;
    Complain(name, "found \"" + name + "\" beside \"" + first + "\", expected only one of " + OneOf(names));
    more = true;
  }
  return more;
}

std::string ObjectReader::FirstOf(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    if (Has(name)) return name;
  }
  return "";
}

}  // namespace opensandbox::emulator

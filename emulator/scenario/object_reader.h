// Reads the fields of one object of a scenario file and reports what is wrong with them.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_OBJECT_READER_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_OBJECT_READER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/scenario/json_document.h"
#include "emulator/scenario/loader.h"
#include "emulator/scenario/scenario.h"
#include "emulator/scenario/shapes.h"

namespace opensandbox::emulator {

// What all readers of one file share.
struct LoadContext {
  std::string file;
  std::vector<Problem> problems;
  bool has_seed = false;      // the file has a field "seed", good or bad
  std::string expected_name;  // the file's name without its endings; empty: any

  void Add(int line, const std::string& pointer, const std::string& message) {
    problems.push_back({file, line, pointer, message});
  }
};

// A value and where it stands.
struct Spot {
  const JsonNode* node = nullptr;
  std::string pointer;
};

constexpr std::uint64_t kCountMax = 1'000'000'000'000'000ull;

// Each getter gives the field's value, or nothing if it is absent or wrong; wrong ones are reported once. The
// constructor reports a value that is no object, unknown fields and missing required ones.
class ObjectReader {
 public:
  ObjectReader(LoadContext& context, const Spot& spot, std::string_view shape);

  bool is_object() const { return is_object_; }
  LoadContext& context() const { return context_; }
  // The field is there, be it right or wrong.
  bool Has(std::string_view name) const;
  std::optional<Spot> Find(std::string_view name) const;

  std::optional<std::string> Text(std::string_view name, bool blank_allowed = false) const;
  // One of the shape's words.
  std::optional<std::string> Word(std::string_view name) const;
  std::optional<TextPattern> Pattern(std::string_view name) const;
  std::optional<Duration> Time(std::string_view name, bool zero_allowed = true) const;
  std::optional<std::uint64_t> Count(std::string_view name, std::uint64_t min, std::uint64_t max = kCountMax) const;
  std::optional<int> SmallCount(std::string_view name, int min, int max = 1'000'000'000) const;
  std::optional<std::uint64_t> Bytes(std::string_view name, std::uint64_t min = 0) const;
  std::optional<bool> Flag(std::string_view name) const;
  std::optional<double> Number(std::string_view name) const;
  // An object of names to strings, in order.
  std::vector<std::pair<std::string, std::string>> TextMap(std::string_view name) const;
  std::map<std::string, TextPattern> PatternMap(std::string_view name) const;
  // The items of an array, each with its place. `allow_empty` false: an empty one is reported.
  std::vector<Spot> Items(std::string_view name, bool empty_allowed = true) const;
  std::vector<std::string> TextItems(std::string_view name) const;
  // Items that must be words of the shape's field.
  std::vector<std::string> WordItems(std::string_view name) const;

  // Reports something about a field (at its line; at the object's if it is absent) or about the whole object.
  void Complain(std::string_view name, const std::string& message) const;
  void ComplainHere(const std::string& message) const;
  // Reports each present field of `names` but the first; true if more than one is there.
  bool AtMostOne(const std::vector<std::string>& names) const;
  // The first of these fields that is there; empty if none is.
  std::string FirstOf(const std::vector<std::string>& names) const;

 private:
  const JsonNode* Usable(std::string_view name, JsonNode::Kind kind, const char* expected) const;

  LoadContext& context_;
  Spot spot_;
  const ObjectShape& shape_;
  bool is_object_ = false;
};

// A string or {"exact": "text"}.
std::optional<TextPattern> ReadPattern(LoadContext& context, const Spot& spot);
std::optional<std::string> ReadWord(LoadContext& context, const Spot& spot, const std::vector<std::string>& words);
std::optional<Duration> ReadTime(LoadContext& context, const Spot& spot, bool zero_allowed);
// "found X, expected one of a, b or c (did you mean "a"?)", for an unknown word or name.
std::string UnknownWord(const std::string& found, std::string_view word, const std::vector<std::string>& words);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_OBJECT_READER_H_

// Field validation in the manner of pydantic: the same types, texts, places and order of errors as the lifecycle
// server's 422 answers (wire reference 1.4).
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_VALIDATION_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_VALIDATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/opensandbox/lifecycle_json.h"

namespace opensandbox::emulator {

// Where a value stands: ["body","volumes",0,"name"]. Lives on the stack of the check that made it.
class Loc {
 public:
  explicit Loc(std::string_view root) : name_(root) {}
  Loc(const Loc& parent, std::string_view name) : parent_(&parent), name_(name) {}
  Loc(const Loc& parent, std::size_t index) : parent_(&parent), index_(index) {}
  void AppendTo(std::string& out) const;  // as a JSON array

 private:
  void AppendItems(std::string& out) const;
  const Loc* parent_ = nullptr;
  std::string_view name_;
  std::optional<std::size_t> index_;
};

// The errors of one request, rendered as they are found.
class ValidationErrors {
 public:
  // `context`: the JSON object of "ctx"; empty: none.
  void Add(std::string_view type, const Loc& loc, std::string_view message, const Json& input,
           std::string_view context = {});
  // Of a model's own rule: "Value error, ..." with an empty error object as context.
  void AddRule(const Loc& loc, std::string_view message, const Json& input);
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  // {"detail":[...]}; nullopt if an input can't be encoded (the server then dies with a bare 500).
  std::optional<std::string> Body() const;

 private:
  std::string items_;
  std::size_t count_ = 0;
  bool encodable_ = true;
};

// A whole number of any size, as Python has them.
struct WholeNumber {
  std::string digits;                 // canonical decimal, '-' in front if negative
  std::optional<std::int64_t> value;  // absent beyond 64 bits
  bool operator<(std::int64_t bound) const;
  bool operator>(std::int64_t bound) const;
};
// As pydantic reads an integer in a string: blanks around, a sign, single underscores and a fraction of zeros are fine.
std::optional<WholeNumber> ParseWholeNumber(std::string_view text);

using StringPairs = std::vector<std::pair<std::string, std::string>>;
using NullableStringPairs = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct StringRule {
  std::optional<std::size_t> length_min, length_max;  // in characters
  std::string_view pattern;                           // as shown
  bool (*matches)(std::string_view) = nullptr;        // what the pattern means
};
struct IntRule {
  std::optional<std::int64_t> min, max;
};

// Each returns nullopt (false) and adds errors if the value does not fit.
std::optional<std::string> CheckString(const Json& value, const Loc& loc, ValidationErrors& errors,
                                       const StringRule& rule = {});
std::optional<WholeNumber> CheckInt(const Json& value, const Loc& loc, ValidationErrors& errors,
                                    const IntRule& rule = {});
std::optional<bool> CheckBool(const Json& value, const Loc& loc, ValidationErrors& errors);
std::optional<StringPairs> CheckStringMap(const Json& value, const Loc& loc, ValidationErrors& errors);
std::optional<NullableStringPairs> CheckNullableStringMap(const Json& value, const Loc& loc, ValidationErrors& errors);
std::optional<std::vector<std::string>> CheckStringList(const Json& value, const Loc& loc, ValidationErrors& errors,
                                                        std::size_t length_min = 0);
bool CheckList(const Json& value, const Loc& loc, ValidationErrors& errors);
bool CheckDict(const Json& value, const Loc& loc, ValidationErrors& errors);
bool CheckModel(const Json& value, const Loc& loc, ValidationErrors& errors);
// Microseconds since the epoch; a text or a number in any of the forms of wire reference 1.10.
std::optional<std::int64_t> CheckDatetime(const Json& value, const Loc& loc, ValidationErrors& errors);

// A field of a model, found by its wire name or else by its snake_case name. `spelled`: the name that was used.
struct Field {
  const Json* value = nullptr;  // null: absent
  std::string_view spelled;
  // Present and not JSON's null.
  bool given() const { return value != nullptr && !value->is_null(); }
};
Field FindField(const Json& object, std::string_view name, std::string_view snake_name = {});
// Adds "Field required" if it is absent.
Field RequireField(const Json& object, const Loc& loc, ValidationErrors& errors, std::string_view name,
                   std::string_view snake_name = {});

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_VALIDATION_H_

#include "emulator/opensandbox/lifecycle_validation.h"

#include <charconv>
#include <cmath>

#include "emulator/opensandbox/lifecycle_datetime.h"
#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

bool IsDigits(std::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return !text.empty();
}

WholeNumber MakeWhole(std::string_view digits) {
  WholeNumber whole{Json::Int(digits).text(), std::nullopt};
  std::int64_t value = 0;
  const char* end = whole.digits.data() + whole.digits.size();
  const auto parsed = std::from_chars(whole.digits.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end) whole.value = value;
  return whole;
}

std::string NumberContext(std::string_view name, std::int64_t bound) {
  return "{\"" + std::string(name) + "\":" + std::to_string(bound) + "}";
}

std::string Characters(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " character" : " characters");
}

std::optional<bool> BoolOfText(std::string_view text) {
  const std::string lower = PyLower(text);
  for (const std::string_view yes : {"1", "on", "t", "true", "y", "yes"}) {
    if (lower == yes) return true;
  }
  for (const std::string_view no : {"0", "off", "f", "false", "n", "no"}) {
    if (lower == no) return false;
  }
  return std::nullopt;
}

}  // namespace

void Loc::AppendItems(std::string& out) const {
  if (parent_ != nullptr) {
    parent_->AppendItems(out);
    out.push_back(',');
  }
  if (index_.has_value()) {
    out.append(std::to_string(*index_));
  } else {
    AppendJsonString(out, name_);
  }
}

void Loc::AppendTo(std::string& out) const {
  out.push_back('[');
  AppendItems(out);
  out.push_back(']');
}

void ValidationErrors::Add(std::string_view type, const Loc& loc, std::string_view message, const Json& input,
                           std::string_view context) {
  if (!items_.empty()) items_.push_back(',');
  items_.append("{\"type\":");
  AppendJsonString(items_, type);
  items_.append(",\"loc\":");
  const std::size_t start = items_.size();
  loc.AppendTo(items_);
  items_.append(",\"msg\":");
  AppendJsonString(items_, message);
  if (!IsUtf8(std::string_view(items_).substr(start))) encodable_ = false;
  items_.append(",\"input\":");
  if (!AppendJson(items_, input)) encodable_ = false;
  if (!context.empty()) items_.append(",\"ctx\":").append(context);
  items_.push_back('}');
  ++count_;
}

void ValidationErrors::AddRule(const Loc& loc, std::string_view message, const Json& input) {
  Add("value_error", loc, "Value error, " + std::string(message), input, "{\"error\":{}}");
}

std::optional<std::string> ValidationErrors::Body() const {
  if (!encodable_) return std::nullopt;
  return "{\"detail\":[" + items_ + "]}";
}

bool WholeNumber::operator<(std::int64_t bound) const {
  return value.has_value() ? *value < bound : digits.front() == '-';
}

bool WholeNumber::operator>(std::int64_t bound) const {
  return value.has_value() ? *value > bound : digits.front() != '-';
}

std::optional<WholeNumber> ParseWholeNumber(std::string_view text) {
  text = PyStrip(text);
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const std::size_t point = text.find('.');
  if (point != std::string_view::npos && text.find_first_not_of('0', point + 1) == std::string_view::npos) {
    text = text.substr(0, point);
  }
  std::string digits = negative ? "-" : "";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      digits.push_back(text[i]);
    } else if (i == 0 || i + 1 == text.size() || text[i + 1] == '_') {
      return std::nullopt;
    }
  }
  if (!IsDigits(std::string_view(digits).substr(negative ? 1 : 0))) return std::nullopt;
  return MakeWhole(digits);
}

std::optional<std::string> CheckString(const Json& value, const Loc& loc, ValidationErrors& errors,
                                       const StringRule& rule) {
  if (!value.is_string()) {
    errors.Add("string_type", loc, "Input should be a valid string", value);
    return std::nullopt;
  }
  const std::string& text = value.text();
  const std::size_t length = Utf8Length(text);
  if (rule.length_min.has_value() && length < *rule.length_min) {
    errors.Add("string_too_short", loc, "String should have at least " + Characters(*rule.length_min), value,
               NumberContext("min_length", static_cast<std::int64_t>(*rule.length_min)));
    return std::nullopt;
  }
  if (rule.length_max.has_value() && length > *rule.length_max) {
    errors.Add("string_too_long", loc, "String should have at most " + Characters(*rule.length_max), value,
               NumberContext("max_length", static_cast<std::int64_t>(*rule.length_max)));
    return std::nullopt;
  }
  if (rule.matches != nullptr && !rule.matches(text)) {
    std::string context = "{\"pattern\":";
    AppendJsonString(context, rule.pattern);
    context.push_back('}');
    errors.Add("string_pattern_mismatch", loc, "String should match pattern '" + std::string(rule.pattern) + "'", value,
               context);
    return std::nullopt;
  }
  return text;
}

std::optional<WholeNumber> CheckInt(const Json& value, const Loc& loc, ValidationErrors& errors, const IntRule& rule) {
  std::optional<WholeNumber> whole;
  switch (value.kind()) {
    case Json::Kind::kInt:
      whole = MakeWhole(value.text());
      break;
    case Json::Kind::kBool:  // a Python bool is an int
      whole = MakeWhole(value.boolean() ? "1" : "0");
      break;
    case Json::Kind::kFloat: {
      const double number = value.number();
      if (!std::isfinite(number)) {
        errors.Add("finite_number", loc, "Input should be a finite number", value);
        return std::nullopt;
      }
      if (number != std::trunc(number)) {
        errors.Add("int_from_float", loc, "Input should be a valid integer, got a number with a fractional part",
                   value);
        return std::nullopt;
      }
      if (std::fabs(number) >= 9223372036854775808.0) {
        errors.Add("int_parsing_size", loc, "Unable to parse input string as an integer, exceeded maximum size", value);
        return std::nullopt;
      }
      whole = MakeWhole(std::to_string(static_cast<std::int64_t>(number)));
      break;
    }
    case Json::Kind::kString:
      whole = ParseWholeNumber(value.text());
      if (!whole.has_value()) {
        errors.Add("int_parsing", loc, "Input should be a valid integer, unable to parse string as an integer", value);
        return std::nullopt;
      }
      break;
    default:
      errors.Add("int_type", loc, "Input should be a valid integer", value);
      return std::nullopt;
  }
  if (rule.max.has_value() && *whole > *rule.max) {
    errors.Add("less_than_equal", loc, "Input should be less than or equal to " + std::to_string(*rule.max), value,
               NumberContext("le", *rule.max));
    return std::nullopt;
  }
  if (rule.min.has_value() && *whole < *rule.min) {
    errors.Add("greater_than_equal", loc, "Input should be greater than or equal to " + std::to_string(*rule.min),
               value, NumberContext("ge", *rule.min));
    return std::nullopt;
  }
  return whole;
}

std::optional<bool> CheckBool(const Json& value, const Loc& loc, ValidationErrors& errors) {
  std::optional<bool> result;
  switch (value.kind()) {
    case Json::Kind::kBool:
      return value.boolean();
    case Json::Kind::kString:
      result = BoolOfText(value.text());
      break;
    case Json::Kind::kInt:
      if (value.text() == "0" || value.text() == "1") result = value.text() == "1";
      break;
    case Json::Kind::kFloat:
      if (value.number() == 0.0 || value.number() == 1.0) {
        result = value.number() == 1.0;
        break;
      }
      if (std::isfinite(value.number()) && value.number() == std::trunc(value.number())) break;
      [[fallthrough]];
    default:
      errors.Add("bool_type", loc, "Input should be a valid boolean", value);
      return std::nullopt;
  }
  if (!result.has_value()) {
    errors.Add("bool_parsing", loc, "Input should be a valid boolean, unable to interpret input", value);
  }
  return result;
}

std::optional<StringPairs> CheckStringMap(const Json& value, const Loc& loc, ValidationErrors& errors) {
  if (!CheckDict(value, loc, errors)) return std::nullopt;
  StringPairs pairs;
  for (const auto& [key, member] : value.members()) {
    std::optional<std::string> text = CheckString(member, Loc(loc, key), errors);
    if (text.has_value()) pairs.emplace_back(key, *std::move(text));
  }
  if (pairs.size() != value.members().size()) return std::nullopt;
  return pairs;
}

std::optional<NullableStringPairs> CheckNullableStringMap(const Json& value, const Loc& loc, ValidationErrors& errors) {
  if (!CheckDict(value, loc, errors)) return std::nullopt;
  NullableStringPairs pairs;
  for (const auto& [key, member] : value.members()) {
    if (member.is_null()) {
      pairs.emplace_back(key, std::nullopt);
      continue;
    }
    std::optional<std::string> text = CheckString(member, Loc(loc, key), errors);
    if (text.has_value()) pairs.emplace_back(key, std::move(text));
  }
  if (pairs.size() != value.members().size()) return std::nullopt;
  return pairs;
}

std::optional<std::vector<std::string>> CheckStringList(const Json& value, const Loc& loc, ValidationErrors& errors,
                                                        std::size_t length_min) {
  if (!CheckList(value, loc, errors)) return std::nullopt;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    std::optional<std::string> text = CheckString(value.items()[i], Loc(loc, i), errors);
    if (text.has_value()) texts.push_back(*std::move(text));
  }
  if (texts.size() != value.items().size()) return std::nullopt;
  if (texts.size() < length_min) {
    const std::string least = std::to_string(length_min);
    const std::string actual = std::to_string(texts.size());
    errors.Add("too_short", loc,
               "List should have at least " + least + (length_min == 1 ? " item" : " items") +
                   " after validation, not " + actual,
               value, "{\"field_type\":\"List\",\"min_length\":" + least + ",\"actual_length\":" + actual + "}");
    return std::nullopt;
  }
  return texts;
}

bool CheckList(const Json& value, const Loc& loc, ValidationErrors& errors) {
  if (value.kind() == Json::Kind::kArray) return true;
  errors.Add("list_type", loc, "Input should be a valid list", value);
  return false;
}

bool CheckDict(const Json& value, const Loc& loc, ValidationErrors& errors) {
  if (value.is_object()) return true;
  errors.Add("dict_type", loc, "Input should be a valid dictionary", value);
  return false;
}

bool CheckModel(const Json& value, const Loc& loc, ValidationErrors& errors) {
  if (value.is_object()) return true;
  errors.Add("model_attributes_type", loc, "Input should be a valid dictionary or object to extract fields from",
             value);
  return false;
}

std::optional<std::int64_t> CheckDatetime(const Json& value, const Loc& loc, ValidationErrors& errors) {
  DatetimeResult result;
  switch (value.kind()) {
    case Json::Kind::kString:
      result = ParseDatetimeText(value.text());
      break;
    case Json::Kind::kInt:
      result = ParseDatetimeText(value.text());
      break;
    case Json::Kind::kFloat:
      result = DatetimeOfEpoch(value.number());
      break;
    default:
      errors.Add("datetime_type", loc, "Input should be a valid datetime", value);
      return std::nullopt;
  }
  if (result.micros.has_value()) return result.micros;
  std::string context = "{\"error\":";
  AppendJsonString(context, result.error);
  context.push_back('}');
  errors.Add("datetime_from_date_parsing", loc,
             "Input should be a valid datetime or date, " + std::string(result.error), value, context);
  return std::nullopt;
}

Field FindField(const Json& object, std::string_view name, std::string_view snake_name) {
  if (const Json* value = object.Find(name)) return {value, name};
  if (!snake_name.empty()) {
    if (const Json* value = object.Find(snake_name)) return {value, snake_name};
  }
  return {nullptr, name};
}

Field RequireField(const Json& object, const Loc& loc, ValidationErrors& errors, std::string_view name,
                   std::string_view snake_name) {
  const Field field = FindField(object, name, snake_name);
  if (field.value == nullptr) errors.Add("missing", Loc(loc, name), "Field required", object);
  return field;
}

}  // namespace opensandbox::emulator

#include "tests/unit/scenario/json_schema.h"

#include <algorithm>
#include <regex>

namespace opensandbox::emulator {
namespace {

using nlohmann::json;

bool IsType(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "null") return value.is_null();
  return false;
}

std::size_t CountFitting(const json& root, const json& schemas, const json& value) {
  return static_cast<std::size_t>(std::count_if(
      schemas.begin(), schemas.end(), [&](const json& schema) { return SchemaMistakes(root, schema, value).empty(); }));
}

// Keywords that look at the value as a whole.
bool HoldsOne(const json& root, const std::string& keyword, const json& operand, const json& value) {
  if (keyword == "type" && operand.is_array()) {
    return std::any_of(operand.begin(), operand.end(), [&](const json& type) { return IsType(value, type); });
  }
  if (keyword == "type") return IsType(value, operand);
  if (keyword == "const") return value == operand;
  if (keyword == "enum") return std::find(operand.begin(), operand.end(), value) != operand.end();
  if (keyword == "anyOf") return CountFitting(root, operand, value) > 0;
  if (keyword == "oneOf") return CountFitting(root, operand, value) == 1;
  if (keyword == "minimum") return !value.is_number() || value >= operand;
  if (keyword == "exclusiveMinimum") return !value.is_number() || value > operand;
  if (keyword == "maximum") return !value.is_number() || value <= operand;
  if (keyword == "minLength") return !value.is_string() || value.get_ref<const std::string&>().size() >= operand;
  if (keyword == "maxLength") return !value.is_string() || value.get_ref<const std::string&>().size() <= operand;
  if (keyword == "minItems") return !value.is_array() || value.size() >= operand;
  if (keyword == "minProperties") return !value.is_object() || value.size() >= operand;
  if (keyword == "uniqueItems") {
    json sorted = value;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  }
  if (keyword == "pattern") {
    return !value.is_string() ||
           std::regex_search(value.get_ref<const std::string&>(), std::regex(operand.get_ref<const std::string&>()));
  }
  if (keyword == "required") {
    return !value.is_object() || std::all_of(operand.begin(), operand.end(), [&](const json& name) {
      return value.contains(name.get_ref<const std::string&>());
    });
  }
  return false;
}

void Append(std::vector<std::string>* all, std::vector<std::string> more) {
  all->insert(all->end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::string> SchemaMistakes(const json& root, const json& schema, const json& value,
                                        const std::string& pointer) {
  std::vector<std::string> mistakes;
  for (const auto& [keyword, operand] : schema.items()) {
    if (keyword == "description" || keyword == "examples" || keyword == "title" || keyword == "$defs" ||
        keyword == "$schema") {
      continue;
    }
    if (keyword == "$ref") {
      const std::string target = operand.get<std::string>().substr(1);
      Append(&mistakes, SchemaMistakes(root, root.at(json::json_pointer(target)), value, pointer));
    } else if (keyword == "properties") {
      if (!value.is_object()) continue;
      for (const auto& [name, property] : operand.items()) {
        if (value.contains(name)) Append(&mistakes, SchemaMistakes(root, property, value[name], pointer + "/" + name));
      }
    } else if (keyword == "additionalProperties") {
      if (!value.is_object()) continue;
      for (const auto& [name, member] : value.items()) {
        if (schema.contains("properties") && schema["properties"].contains(name)) continue;
        if (operand.is_boolean()) {
          if (!operand.get<bool>()) mistakes.push_back(pointer + "/" + name + ": " + keyword);
        } else {
          Append(&mistakes, SchemaMistakes(root, operand, member, pointer + "/" + name));
        }
      }
    } else if (keyword == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
        Append(&mistakes, SchemaMistakes(root, operand, value[i], pointer + "/" + std::to_string(i)));
      }
    } else if (!HoldsOne(root, keyword, operand, value)) {
      mistakes.push_back(pointer + ": " + keyword);
    }
  }
  return mistakes;
}

}  // namespace opensandbox::emulator

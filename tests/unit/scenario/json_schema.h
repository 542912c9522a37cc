// As much of JSON Schema as scenarios/schema uses, so that files can be held against it without another dependency.
#ifndef OPENSANDBOX_TESTS_UNIT_SCENARIO_JSON_SCHEMA_H_
#define OPENSANDBOX_TESTS_UNIT_SCENARIO_JSON_SCHEMA_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace opensandbox::emulator {

// The mistakes of `value` by `schema`, each "POINTER: KEYWORD". A keyword that is not understood here is one too.
std::vector<std::string> SchemaMistakes(const nlohmann::json& root, const nlohmann::json& schema,
                                        const nlohmann::json& value, const std::string& pointer = "");

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_TESTS_UNIT_SCENARIO_JSON_SCHEMA_H_

// The fields of every object in a scenario file: the one table that the loader reads by, that unknown names are
// compared with, and that a test holds against scenarios/schema/scenario.schema.json.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_SHAPES_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_SHAPES_H_

#include <string>
#include <string_view>
#include <vector>

namespace opensandbox::emulator {

struct FieldShape {
  std::string name;
  bool required = false;
  std::vector<std::string> words;  // the only strings allowed; empty: not a field of words
};

struct ObjectShape {
  std::string name;  // as under "$defs" in the schema; "scenario" is its root
  std::vector<FieldShape> fields;

  const FieldShape* Find(std::string_view field) const;
  std::vector<std::string> FieldNames() const;
};

const std::vector<ObjectShape>& ScenarioShapes();
// The shape must exist.
const ObjectShape& ShapeNamed(std::string_view name);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_SHAPES_H_

// One file, many cases: parameters that take each of several values.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_MATRIX_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_MATRIX_H_

#include <string>
#include <vector>

#include "emulator/scenario/object_reader.h"

namespace opensandbox::emulator {

inline constexpr std::size_t kMatrixCasesMax = 10000;

struct MatrixCase {
  std::string suffix;  // "404-run-code": the names of its values, fit for a scenario's name
  JsonNode root;       // without "matrix" and "except", placeholders replaced; its "name" is still the file's
};

// The cases of a file whose root has a "matrix", in the order of its axes, the last one turning fastest; empty if what
// it says is wrong, which is reported.
//
// "matrix" is an object of axes. An axis is an array of values: text, numbers, true, false, or objects, which have a
// "name" and any other members. "${axis}" stands for the value (of an object: its name), "${axis.member}" for a member;
// a text that is nothing else becomes the value itself, whatever its type, and within a longer text it becomes its
// text. "except" is an array of objects: cases whose values have all these names are left out.
std::vector<MatrixCase> ExpandMatrix(const JsonNode& root, LoadContext& context);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_MATRIX_H_

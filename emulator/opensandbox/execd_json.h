// JSON as execd reads and writes it: Go's encoding/json.
//
// Its messages are part of the answers, it replaces what is not UTF-8 instead of refusing it, and it ignores what comes
// behind the first value, so the parser of nlohmann/json would not do.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_JSON_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_JSON_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opensandbox::emulator {

// Appends what stands between the quotes: `<`, `>`, `&`, U+2028 and U+2029 as \u escapes, each byte that is no UTF-8 as
// the escape \ufffd.
void AppendGoEscaped(std::string& out, std::string_view text);
// The same with the quotes.
void AppendGoString(std::string& out, std::string_view text);
// A JSON text again as Go writes a value of type `any`: keys sorted, compact, escaped as above. False if it is no JSON.
bool AppendGoJson(std::string& out, std::string_view json);

// A field of a Go struct that a request body is decoded into: a string or a struct of strings.
struct GoField {
  std::string_view name;  // compared without case
  std::string_view path;  // as Go names it in an error: "RunCodeRequest.code"
  std::string_view type;  // "string", "model.CodeContext"
  std::string* text = nullptr;
  std::vector<GoField> fields;  // if `text` is null
};

// Decodes the first JSON value of the body. Returns Go's error message, empty if there is none. `type` is the name of
// the struct: "model.RunCodeRequest". As in Go, fields are set as far as they can be, even if there is an error.
std::string DecodeGoStruct(std::string_view body, std::string_view type, const std::vector<GoField>& fields);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_JSON_H_

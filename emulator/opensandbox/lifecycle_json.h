// JSON as the lifecycle server reads and writes it: Python's json module in, compact UTF-8 out.
//
// nlohmann/json is not used here on purpose. The server echoes what it refuses ("input"), so numbers must survive as
// they were written (integers of any length, NaN), equal keys must collapse as in a Python dict, and the parser's
// messages and character positions are part of the answers.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_JSON_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_JSON_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace opensandbox::emulator {

class Json {
 public:
  enum class Kind { kNull, kBool, kInt, kFloat, kString, kArray, kObject };
  using Members = std::vector<std::pair<std::string, Json>>;

  Json() = default;
  static Json Bool(bool value);
  // Decimal digits, with '-' if negative; "-0" and leading zeros are made canonical.
  static Json Int(std::string_view digits);
  static Json Float(double value);
  static Json String(std::string value);
  static Json Array();
  static Json Object();

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_string() const { return kind_ == Kind::kString; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool boolean() const { return boolean_; }          // kBool
  double number() const { return number_; }          // kFloat
  const std::string& text() const { return text_; }  // kString: the value; kInt: the digits
  const std::vector<Json>& items() const { return items_; }
  const Members& members() const { return members_; }
  // Of an object; nullptr if there is no such key.
  const Json* Find(std::string_view key) const;

  std::vector<Json>& items() { return items_; }
  Members& members() { return members_; }

 private:
  Kind kind_ = Kind::kNull;
  bool boolean_ = false;
  double number_ = 0;
  std::string text_;
  std::vector<Json> items_;
  Members members_;
};

// Why a text is no JSON, in the words of Python's parser.
struct JsonSyntaxError {
  std::string message;       // "Expecting value"
  std::size_t position = 0;  // in characters, behind a byte order mark
};
// Bytes that the server can't even decode: not UTF-8, nested too deeply, an integer of more than 4300 digits.
struct JsonUndecodable {};
using ParsedJson = std::variant<Json, JsonSyntaxError, JsonUndecodable>;
ParsedJson ParsePythonJson(std::string_view bytes);

// Appends the text in quotes; only quotes, backslashes and control characters are escaped.
void AppendJsonString(std::string& out, std::string_view text);
// False if the value can't be encoded (NaN, an infinity, a lone surrogate): the server then dies with a bare 500.
bool AppendJson(std::string& out, const Json& value);

// Python's repr() of a float: "1.5", "120.0", "1e+16".
std::string FloatRepr(double value);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_JSON_H_

#include "emulator/opensandbox/lifecycle_json.h"

#include <gtest/gtest.h>

#include <string>

namespace opensandbox::emulator {
namespace {

struct SyntaxRow {
  const char* text;
  const char* message;
  std::size_t position;
};

// Messages and positions of CPython 3.14's json module.
constexpr SyntaxRow kSyntaxRows[] = {
    {"", "Expecting value", 0},
    {"  ", "Expecting value", 2},
    {"{", "Expecting property name enclosed in double quotes", 1},
    {"{bad", "Expecting property name enclosed in double quotes", 1},
    {"{\"a\"", "Expecting ':' delimiter", 4},
    {"{\"a\":", "Expecting value", 5},
    {"{\"a\":1", "Expecting ',' delimiter", 6},
    {"{\"a\":1,}", "Illegal trailing comma before end of object", 6},
    {"{\"a\":1, x}", "Expecting property name enclosed in double quotes", 8},
    {"[1,]", "Illegal trailing comma before end of array", 2},
    {"[1 2]", "Expecting ',' delimiter", 3},
    {"[", "Expecting value", 1},
    {"\"ab", "Unterminated string starting at", 0},
    {"\"a\nb\"", "Invalid control character at", 2},
    {"\"a\\x\"", "Invalid \\escape", 2},
    {"\"a\\u12g4\"", "Invalid \\uXXXX escape", 3},
    {"{} x", "Extra data", 3},
    {"01", "Extra data", 1},
    {"-", "Expecting value", 0},
    {"nul", "Expecting value", 0},
    {"[\"\xC3\xA4\", x]", "Expecting value", 6},  // in characters, not bytes
};

TEST(LifecycleJsonTest, SyntaxErrorsAreThoseOfPython) {
  for (const SyntaxRow& row : kSyntaxRows) {
    const ParsedJson parsed = ParsePythonJson(row.text);
    const auto* error = std::get_if<JsonSyntaxError>(&parsed);
    ASSERT_NE(error, nullptr) << row.text;
    EXPECT_EQ(error->message, row.message) << row.text;
    EXPECT_EQ(error->position, row.position) << row.text;
  }
}

std::string RoundTrip(const std::string& text) {
  const ParsedJson parsed = ParsePythonJson(text);
  const Json* value = std::get_if<Json>(&parsed);
  std::string out;
  if (value == nullptr) return "no JSON";
  return AppendJson(out, *value) ? out : "not encodable";
}

struct RoundRow {
  const char* text;
  const char* written;
};

constexpr RoundRow kRoundRows[] = {
    {" { \"a\" : [ 1 , true , null ] } ", "{\"a\":[1,true,null]}"},
    {"\xEF\xBB\xBF{}", "{}"},
    {"99999999999999999999", "99999999999999999999"},
    {"-0", "0"},
    {"1.50", "1.5"},
    {"120.0", "120.0"},
    {"1e3", "1000.0"},
    {"1E16", "1e+16"},
    {"1e-5", "1e-05"},
    {"0.0001", "0.0001"},
    {"-2.5e-3", "-0.0025"},
    {"\"\\u00e4\\ud83d\\ude00\"", "\"\xC3\xA4\xF0\x9F\x98\x80\""},
    {"\"\\/\\b\\f\\n\\r\\t\\\\\\\"\"", "\"/\\b\\f\\n\\r\\t\\\\\\\"\""},
    {"\"\\u0001\x7F\"", "\"\\u0001\x7F\""},
    {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}"},
    {"NaN", "not encodable"},
    {"-Infinity", "not encodable"},
    {"1e999", "not encodable"},
    {"\"\\ud800\"", "not encodable"},
};

TEST(LifecycleJsonTest, ValuesAreWrittenAsPythonWritesThem) {
  for (const RoundRow& row : kRoundRows) EXPECT_EQ(RoundTrip(row.text), row.written) << row.text;
}

TEST(LifecycleJsonTest, ManyEqualKeysStillCollapse) {
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += "\"k" + std::to_string(i % 40) + "\":" + std::to_string(i) + ",";
  text += "\"last\":0}";
  const ParsedJson parsed = ParsePythonJson(text);
  const Json* value = std::get_if<Json>(&parsed);
  ASSERT_NE(value, nullptr);
  ASSERT_EQ(value->members().size(), 41u);
  EXPECT_EQ(value->members()[0].first, "k0");
  EXPECT_EQ(value->Find("k0")->text(), "80");
  EXPECT_EQ(value->Find("k39")->text(), "79");
  EXPECT_EQ(value->members()[40].first, "last");
}

bool IsUndecodable(const std::string& text) { return std::holds_alternative<JsonUndecodable>(ParsePythonJson(text)); }

TEST(LifecycleJsonTest, WhatPythonCannotDecodeIsToldApart) {
  EXPECT_TRUE(IsUndecodable("\"\xFF\""));
  EXPECT_TRUE(IsUndecodable("\"\xC0\x80\""));
  EXPECT_FALSE(IsUndecodable(std::string(4300, '9')));
  EXPECT_TRUE(IsUndecodable(std::string(4301, '9')));
  EXPECT_FALSE(IsUndecodable("-" + std::string(4300, '9')));
}

TEST(LifecycleJsonTest, NestingHasALimit) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_FALSE(IsUndecodable(nested(1000)));
  EXPECT_FALSE(IsUndecodable(nested(1001)));
  EXPECT_TRUE(IsUndecodable(nested(1002)));
  EXPECT_TRUE(IsUndecodable(std::string(5000000, '[')));
}

}  // namespace
}  // namespace opensandbox::emulator

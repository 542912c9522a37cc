#include "emulator/opensandbox/execd_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "opensandbox/base/random.h"

namespace opensandbox::emulator {
namespace {

std::string Escaped(std::string_view text) {
  std::string out;
  AppendGoEscaped(out, text);
  return out;
}

TEST(GoJsonWriterTest, EscapesAsGoDoes) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"plain text 123", "plain text 123"},
      {"<a>&", R"(\u003ca\u003e\u0026)"},
      {"\"\\/", R"(\"\\/)"},
      {"\n\r\t\b\f", R"(\n\r\t\b\f)"},
      {std::string("\0\x1b\x7f", 3), "\\u0000\\u001b\x7f"},
      {"\xc3\xbc \xe4\xbd\xa0 \xf0\x9f\x98\x80", "\xc3\xbc \xe4\xbd\xa0 \xf0\x9f\x98\x80"},
      {"a\xe2\x80\xa8"
       "b\xe2\x80\xa9",
       R"(a\u2028b\u2029)"},
      {"\xef\xbf\xbd", "\xef\xbf\xbd"},  // a real U+FFFD stays
      {"a\xff"
       "b",
       R"(a\ufffdb)"},
      {"\xe4\xbd", R"(\ufffd\ufffd)"},            // cut character
      {"\xc0\x80", R"(\ufffd\ufffd)"},            // overlong
      {"\xed\xa0\x80", R"(\ufffd\ufffd\ufffd)"},  // surrogate
      {"\xf4\x90\x80\x80", R"(\ufffd\ufffd\ufffd\ufffd)"},
      {"", ""},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(Escaped(text), expected);
}

TEST(GoJsonWriterTest, WhatItWritesIsReadBackUnchanged) {
  SeededRandom random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::uint64_t n = random.Below(30); n > 0; --n) text.push_back(static_cast<char>(random.Below(128)));
    const std::string json = "\"" + Escaped(text) + "\"";
    EXPECT_EQ(nlohmann::json::parse(json).get<std::string>(), text);
  }
}

TEST(GoJsonWriterTest, ValuesAreSortedAndCompact) {
  std::string out;
  EXPECT_TRUE(AppendGoJson(out, R"( {"b": [1, 2.5, 3.0, null, true], "a": {"<": "&"}} )"));
  EXPECT_EQ(out, R"({"a":{"\u003c":"\u0026"},"b":[1,2.5,3,null,true]})");
  EXPECT_FALSE(AppendGoJson(out, "{bad"));
}

struct Decoded {
  std::string error, code, id, language;
};

Decoded Decode(std::string_view body) {
  Decoded decoded;
  decoded.error = DecodeGoStruct(
      body, "model.RunCodeRequest",
      {{.name = "context",
        .path = "RunCodeRequest.context",
        .type = "model.CodeContext",
        .text = nullptr,
        .fields =
            {{.name = "id", .path = "CodeContext.context.id", .type = "string", .text = &decoded.id, .fields = {}},
             {.name = "language",
              .path = "CodeContext.context.CodeContextRequest.language",
              .type = "string",
              .text = &decoded.language,
              .fields = {}}}},
       {.name = "code", .path = "RunCodeRequest.code", .type = "string", .text = &decoded.code, .fields = {}}});
  return decoded;
}

TEST(GoJsonReaderTest, SyntaxErrorsAreInGosWords) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "EOF"},
      {" \n\t", "EOF"},
      {"{", "unexpected EOF"},
      {R"({"code":"x)", "unexpected EOF"},
      {R"({"code":"x\)", "unexpected EOF"},
      {R"({"code":tru)", "unexpected EOF"},
      {"-", "unexpected EOF"},
      {"{bad", "invalid character 'b' looking for beginning of object key string"},
      {"x", "invalid character 'x' looking for beginning of value"},
      {R"({"a" 1})", "invalid character '1' after object key"},
      {R"({"a":1 "b"})", "invalid character '\"' after object key:value pair"},
      {R"({"a":1,})", "invalid character '}' looking for beginning of object key string"},
      {"[1 2]", "invalid character '2' after array element"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"\"a\nb\"", "invalid character '\\n' in string literal"},
      {R"("\x")", "invalid character 'x' in string escape code"},
      {R"("\u12g4")", "invalid character 'g' in \\u hexadecimal character escape"},
      {"-x", "invalid character 'x' in numeric literal"},
      {"1.x", "invalid character 'x' after decimal point in numeric literal"},
      {"1e+x", "invalid character 'x' in exponent of numeric literal"},
      {"trux", "invalid character 'x' in literal true (expecting 'e')"},
      {"nil", "invalid character 'i' in literal null (expecting 'u')"},
      {R"({"a":01})", "invalid character '1' after object key:value pair"},
      {"'", "invalid character '\\'' looking for beginning of value"},
      {"\xef\xbb\xbf{}", "invalid character '\xc3\xaf' looking for beginning of value"},
      {std::string("\x01", 1), "invalid character '\\x01' looking for beginning of value"},
      {"\x85", "invalid character '\\u0085' looking for beginning of value"},
  };
  for (const auto& [body, error] : rows) EXPECT_EQ(Decode(body).error, error) << body;
}

TEST(GoJsonReaderTest, WrongTypesNameTheFieldAsGoDoes) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"[]", "json: cannot unmarshal array into Go value of type model.RunCodeRequest"},
      {"\"x\"", "json: cannot unmarshal string into Go value of type model.RunCodeRequest"},
      {"12", "json: cannot unmarshal number into Go value of type model.RunCodeRequest"},
      {"true", "json: cannot unmarshal bool into Go value of type model.RunCodeRequest"},
      {R"({"code":{}})", "json: cannot unmarshal object into Go struct field RunCodeRequest.code of type string"},
      {R"({"code":false})", "json: cannot unmarshal bool into Go struct field RunCodeRequest.code of type string"},
      {R"({"context":[]})",
       "json: cannot unmarshal array into Go struct field RunCodeRequest.context of type model.CodeContext"},
      {R"({"context":{"id":7}})",
       "json: cannot unmarshal number into Go struct field CodeContext.context.id of type string"},
      // The first one counts, and decoding goes on.
      {R"({"code":1,"context":{"language":[]}})",
       "json: cannot unmarshal number into Go struct field RunCodeRequest.code of type string"},
  };
  for (const auto& [body, error] : rows) EXPECT_EQ(Decode(body).error, error) << body;
  EXPECT_EQ(Decode(R"({"context":{"id":7,"language":"go"},"code":"c"})").language, "go");
}

TEST(GoJsonReaderTest, KeysIgnoreCaseTheLastWinsAndWhatFollowsTheValueIsIgnored) {
  const Decoded decoded = Decode(
      R"({"CODE":"a","other":{"deep":[1,{"x":"]}"}]},"Context":{"Language":"python","id":null},"code":"b"} tail {)");
  EXPECT_EQ(decoded.error, "");
  EXPECT_EQ(decoded.code, "b");
  EXPECT_EQ(decoded.language, "python");
  EXPECT_EQ(decoded.id, "");
  EXPECT_EQ(Decode("null").error, "");
}

TEST(GoJsonReaderTest, StringsAreUnescapedAndIllFormedBytesReplaced) {
  EXPECT_EQ(Decode(R"({"code":"\"\\\/\b\f\n\r\t\u00fc\ud83d\ude00"})").code, "\"\\/\b\f\n\r\t\xc3\xbc\xf0\x9f\x98\x80");
  EXPECT_EQ(Decode(R"({"code":"a\ud83dx\udc00"})").code, "a\xef\xbf\xbdx\xef\xbf\xbd");
  EXPECT_EQ(Decode("{\"code\":\"a\xff\xe4\xbd\"}").code, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(Decode("{\"code\":\"\xe4\xbd\xa0\"}").code, "\xe4\xbd\xa0");
}

TEST(GoJsonReaderTest, NestingIsAllowedUpToGosLimit) {
  const auto nested = [](std::size_t depth) {
    return "{\"x\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  EXPECT_EQ(Decode(nested(9999)).error, "");
  EXPECT_EQ(Decode(nested(10000)).error, "");
  EXPECT_EQ(Decode(nested(10001)).error, "exceeded max depth");
}

// Whatever comes in, the reader stops; and it takes exactly what another parser takes.
TEST(GoJsonReaderTest, RandomTextsAgreeWithAnotherParser) {
  const std::string pieces[] = {"{",      "}",    "[",    "]", ",",  ":",  "\"a\"", "\"code\"", "1",
                                "-2.5e3", "true", "null", " ", "\\", "\"", "x",     "\xff",     "01"};
  SeededRandom random(11);
  int good = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::uint64_t n = random.Below(12); n > 0; --n) text += pieces[random.Below(std::size(pieces))];
    const std::string error = Decode(text).error;
    const bool syntax_ok = error.empty() || error.rfind("json: ", 0) == 0;
    if (nlohmann::json::accept(text)) {
      EXPECT_TRUE(syntax_ok) << text << ": " << error;
      ++good;
    }
    if (!syntax_ok) {
      EXPECT_FALSE(nlohmann::json::accept(text)) << text;
    }
  }
  EXPECT_GT(good, 100);
}

}  // namespace
}  // namespace opensandbox::emulator

#include "emulator/opensandbox/lifecycle_validation.h"

#include <gtest/gtest.h>

#include <string>

#include "emulator/opensandbox/lifecycle_create_request.h"
#include "emulator/opensandbox/lifecycle_datetime.h"
#include "emulator/opensandbox/lifecycle_rules.h"

namespace opensandbox::emulator {
namespace {

Json Parse(const std::string& text) {
  ParsedJson parsed = ParsePythonJson(text);
  const Json* value = std::get_if<Json>(&parsed);
  EXPECT_NE(value, nullptr) << text;
  return value != nullptr ? *value : Json();
}

// The value of a whole number, or the 422 entry's type.
std::string IntOf(const std::string& json, const IntRule& rule = {}) {
  ValidationErrors errors;
  const auto whole = CheckInt(Parse(json), Loc("q"), errors, rule);
  if (whole.has_value()) return whole->digits;
  const std::string body = errors.Body().value_or("not encodable");
  const std::size_t start = body.find("\"type\":\"");
  if (start == std::string::npos) return body;
  return body.substr(start + 8, body.find('"', start + 8) - start - 8);
}

TEST(LifecycleValidationTest, IntegersAreReadAsPydanticReadsThem) {
  EXPECT_EQ(IntOf("120"), "120");
  EXPECT_EQ(IntOf("120.0"), "120");
  EXPECT_EQ(IntOf("true"), "1");
  EXPECT_EQ(IntOf("\"120\""), "120");
  EXPECT_EQ(IntOf("\" +1_000.00 \""), "1000");
  EXPECT_EQ(IntOf("\"007\""), "7");
  EXPECT_EQ(IntOf("\"-5\""), "-5");
  EXPECT_EQ(IntOf("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(IntOf("1.5"), "int_from_float");
  EXPECT_EQ(IntOf("\"1.5\""), "int_parsing");
  EXPECT_EQ(IntOf("\"\""), "int_parsing");
  EXPECT_EQ(IntOf("\"1__0\""), "int_parsing");
  EXPECT_EQ(IntOf("\"_1\""), "int_parsing");
  EXPECT_EQ(IntOf("\"1_\""), "int_parsing");
  EXPECT_EQ(IntOf("\"0x1\""), "int_parsing");
  EXPECT_EQ(IntOf("null"), "int_type");
  EXPECT_EQ(IntOf("[]"), "int_type");
  EXPECT_EQ(IntOf("NaN"), "not encodable");
}

TEST(LifecycleValidationTest, BoundsHoldAtTheirEdgesAndBeyondSixtyFourBits) {
  const IntRule rule{.min = 60, .max = 200};
  EXPECT_EQ(IntOf("59", rule), "greater_than_equal");
  EXPECT_EQ(IntOf("60", rule), "60");
  EXPECT_EQ(IntOf("61", rule), "61");
  EXPECT_EQ(IntOf("199", rule), "199");
  EXPECT_EQ(IntOf("200", rule), "200");
  EXPECT_EQ(IntOf("201", rule), "less_than_equal");
  EXPECT_EQ(IntOf("99999999999999999999", rule), "less_than_equal");
  EXPECT_EQ(IntOf("-99999999999999999999", rule), "greater_than_equal");
}

TEST(LifecycleValidationTest, BoolsAreReadAsPydanticReadsThem) {
  const auto bool_of = [](const std::string& json) -> std::string {
    ValidationErrors errors;
    const auto value = CheckBool(Parse(json), Loc("q"), errors);
    if (value.has_value()) return *value ? "true" : "false";
    return errors.Body()->find("bool_parsing") != std::string::npos ? "bool_parsing" : "bool_type";
  };
  for (const char* yes : {"true", "1", "1.0", "\"1\"", "\"YES\"", "\"on\"", "\"t\""})
    EXPECT_EQ(bool_of(yes), "true") << yes;
  for (const char* no : {"false", "0", "0.0", "\"off\"", "\"No\"", "\"f\""}) EXPECT_EQ(bool_of(no), "false") << no;
  for (const char* bad : {"2", "2.0", "\"maybe\"", "\"\"", "\" true\""}) EXPECT_EQ(bool_of(bad), "bool_parsing") << bad;
  for (const char* other : {"null", "[]", "{}", "1.5"}) EXPECT_EQ(bool_of(other), "bool_type") << other;
}

TEST(LifecycleValidationTest, StringsCountCharactersNotBytes) {
  const auto fits = [](const std::string& json, const StringRule& rule) {
    ValidationErrors errors;
    return CheckString(Parse(json), Loc("q"), errors, rule).has_value();
  };
  EXPECT_TRUE(fits("\"\xC3\xA4\xC3\xA4\"", {.length_max = 2}));
  EXPECT_FALSE(fits("\"\xC3\xA4\xC3\xA4\xC3\xA4\"", {.length_max = 2}));
  EXPECT_FALSE(fits("\"\xC3\xA4\"", {.length_min = 2}));
  EXPECT_TRUE(fits("\"\xC3\xA4\xC3\xA4\"", {.length_min = 2}));
}

TEST(LifecycleValidationTest, PlacesAreNamesAndIndexes) {
  const Loc root("body");
  const Loc list(root, "a\"b");
  std::string text;
  Loc(list, std::size_t{3}).AppendTo(text);
  EXPECT_EQ(text, R"(["body","a\"b",3])");
}

// The 422 body for a create request; "ok" if it is fine.
std::string CreateErrors(const std::string& json) {
  ValidationErrors errors;
  const Json body = Parse(json);
  return CheckCreateRequest(body, Loc("body"), errors).has_value() ? "ok" : errors.Body().value_or("not encodable");
}

TEST(LifecycleCreateRequestTest, TheWireNameWinsOverTheSnakeCaseName) {
  const std::string rest = R"("image":{"uri":"x"},"entrypoint":["a"],)";
  EXPECT_EQ(CreateErrors("{" + rest + R"("resource_limits":{}})"), "ok");
  EXPECT_EQ(CreateErrors("{" + rest + R"("resource_limits":5,"resourceLimits":{}})"), "ok");
  EXPECT_EQ(
      CreateErrors("{" + rest + R"("resource_limits":5})"),
      R"({"detail":[{"type":"dict_type","loc":["body","resource_limits"],"msg":"Input should be a valid dictionary",)"
      R"("input":5}]})");
}

TEST(LifecycleCreateRequestTest, RulesOverSeveralFieldsWaitForTheFields) {
  const std::string body = CreateErrors(R"({"timeout":1})");
  EXPECT_EQ(body.find("value_error"), std::string::npos) << body;
  EXPECT_NE(body.find("greater_than_equal"), std::string::npos) << body;
}

TEST(LifecycleCreateRequestTest, ErrorsComeInTheOrderOfTheModelNotOfTheBody) {
  const std::string body = CreateErrors(R"({"extensions":1,"volumes":1,"platform":1,"image":1,"env":1})");
  std::size_t last = 0;
  for (const char* field : {"\"image\"", "\"platform\"", "\"env\"", "\"volumes\"", "\"extensions\""}) {
    const std::size_t at = body.find(std::string("[\"body\",") + field);
    ASSERT_NE(at, std::string::npos) << field;
    EXPECT_GT(at, last) << field;
    last = at;
  }
}

TEST(LifecycleCreateRequestTest, TheNetworkPolicyIsKeptInWireNames) {
  ValidationErrors errors;
  const Json body =
      Parse(R"({"image":{"uri":"x"},"entrypoint":["a"],"resourceLimits":{},"network_policy":{"default_action":"deny",)"
            R"("egress":[{"target":"a.com","action":"allow","x":1}]}})");
  const auto request = CheckCreateRequest(body, Loc("body"), errors);
  ASSERT_TRUE(request.has_value() && request->network_policy.has_value());
  EXPECT_EQ(request->network_policy->ToJson(),
            R"({"defaultAction":"deny","egress":[{"action":"allow","target":"a.com"}]})");
  EXPECT_EQ(NetworkPolicy{}.ToJson(), R"({"egress":[]})");
}

bool LabelFits(const std::string& key, const std::string& value) { return !CheckLabelSyntax(key, value).has_value(); }

TEST(LifecycleRulesTest, LabelsHaveTheirLimits) {
  for (const std::size_t length : {62u, 63u}) {
    EXPECT_TRUE(LabelFits(std::string(length, 'k'), "v"));
    EXPECT_TRUE(LabelFits("k", std::string(length, 'v')));
  }
  EXPECT_FALSE(LabelFits(std::string(64, 'k'), "v"));
  EXPECT_FALSE(LabelFits("k", std::string(64, 'v')));
  const auto prefix = [](std::size_t length) {
    std::string text = "a";
    while (text.size() < length) text += text.size() + 1 == length ? "a" : ".a";
    return text;
  };
  for (const std::size_t length : {252u, 253u}) EXPECT_TRUE(LabelFits(prefix(length) + "/k", "v")) << length;
  EXPECT_FALSE(LabelFits(prefix(254) + "/k", "v"));
}

TEST(LifecycleRulesTest, TheTimeoutMaximumIsInclusive) {
  LifecycleSettings settings;
  const auto refused = [&settings](std::int64_t seconds) {
    return CheckTimeout(WholeNumber{std::to_string(seconds), seconds}, 1796075619000000, settings).has_value();
  };
  EXPECT_FALSE(refused(86401));
  settings.sandbox_timeout_seconds_max = 86400;
  EXPECT_FALSE(refused(86399));
  EXPECT_FALSE(refused(86400));
  EXPECT_TRUE(refused(86401));
}

TEST(LifecycleRulesTest, ATimeoutMayReachTheEndOfYear9999) {
  const std::int64_t now = 1796075619000000;
  const std::int64_t left = (kDatetimeMaxMicros - now) / 1000000;
  const auto refused = [now](std::int64_t seconds) {
    return CheckTimeout(WholeNumber{std::to_string(seconds), seconds}, now, LifecycleSettings{}).has_value();
  };
  EXPECT_FALSE(refused(left - 1));
  EXPECT_FALSE(refused(left));
  EXPECT_TRUE(refused(left + 1));
  EXPECT_TRUE(CheckTimeout(WholeNumber{"99999999999999999999", std::nullopt}, now, LifecycleSettings{}).has_value());
}

std::string HostPathCode(const std::string& path, const LifecycleSettings& settings = {}) {
  VolumeRequest volume;
  volume.name = "v";
  volume.host_path = path;
  const auto refusal = CheckVolumes({volume}, settings, [](const std::string&) { return std::nullopt; });
  return refusal.has_value() ? refusal->code : "ok";
}

TEST(LifecycleRulesTest, HostPathsAreCheckedEvenWhereAnyIsAllowed) {
  EXPECT_EQ(HostPathCode("/anything"), "ok");
  EXPECT_EQ(HostPathCode("C:\\data"), "ok");
  EXPECT_EQ(HostPathCode("/a/../b"), "VOLUME::INVALID_HOST_PATH");
  EXPECT_EQ(HostPathCode("/a//b"), "VOLUME::INVALID_HOST_PATH");
  EXPECT_EQ(HostPathCode("/a/"), "VOLUME::INVALID_HOST_PATH");
  EXPECT_EQ(HostPathCode("/"), "ok");
}

TEST(LifecycleRulesTest, AnEmptyAllowListRefusesEveryHostPath) {
  LifecycleSettings settings;
  settings.allowed_host_paths.emplace();
  EXPECT_EQ(HostPathCode("/data", settings), "VOLUME::HOST_PATH_NOT_ALLOWED");
  settings.allowed_host_paths = {"/data/"};
  EXPECT_EQ(HostPathCode("/data", settings), "ok");
  EXPECT_EQ(HostPathCode("/data/x", settings), "ok");
  EXPECT_EQ(HostPathCode("/datax", settings), "VOLUME::HOST_PATH_NOT_ALLOWED");
}

TEST(LifecycleRulesTest, SubPathsStayBelow) {
  VolumeRequest volume;
  volume.name = "v";
  volume.host_path = "/data";
  const auto code = [&volume](const std::string& sub_path) {
    volume.sub_path = sub_path;
    const auto refusal = CheckVolumes({volume}, {}, [](const std::string&) { return std::nullopt; });
    return refusal.has_value() ? refusal->code : "ok";
  };
  EXPECT_EQ(code(""), "ok");
  EXPECT_EQ(code("a/b"), "ok");
  EXPECT_EQ(code("a..b/..c"), "ok");
  EXPECT_EQ(code("/a"), "VOLUME::INVALID_SUB_PATH");
  EXPECT_EQ(code(".."), "VOLUME::INVALID_SUB_PATH");
  EXPECT_EQ(code("a/../b"), "VOLUME::INVALID_SUB_PATH");
  EXPECT_EQ(code("a/.."), "VOLUME::INVALID_SUB_PATH");
}

TEST(LifecycleRulesTest, PlatformsAreTrimmedAndLowered) {
  std::pair<std::string, std::string> platform{" Linux ", "ARM64"};
  EXPECT_FALSE(CheckPlatform(platform).has_value());
  EXPECT_EQ(platform.first, "linux");
  EXPECT_EQ(platform.second, "arm64");
  std::pair<std::string, std::string> mac{"mac", "arm64"};
  EXPECT_EQ(CheckPlatform(mac)->message, "Unsupported platform.os 'mac'. Supported values: ['linux', 'windows'].");
  std::pair<std::string, std::string> x86{"linux", "x86_64"};
  EXPECT_EQ(CheckPlatform(x86)->message, "Unsupported platform.arch 'x86_64'. Supported values: ['amd64', 'arm64'].");
}

}  // namespace
}  // namespace opensandbox::emulator

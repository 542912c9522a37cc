#include "emulator/control/control_body.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "opensandbox/base/units.h"
#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kScaleMax = 1e6;

Error Bad(std::string message) {
  Error error;
  error.kind = ErrorKind::kInvalidArgument;
  error.http_status = 400;
  error.message = std::move(message);
  return error;
}

std::string TypeName(const Json& json) {
  if (json.is_number()) return json.is_number_integer() ? "an integer" : "a number";
  if (json.is_array() || json.is_object()) return std::string("an ") + json.type_name();
  return json.is_null() ? "null" : std::string("a ") + json.type_name();
}

Error WrongType(const std::string& field, const std::string& expected, const Json& found) {
  return Bad("'" + field + "' must be " + expected + ", not " + TypeName(found));
}

// An object with no fields but the given ones.
Result<Json> ParseObject(const std::string& body, const std::vector<std::string_view>& fields) {
  std::string known;
  for (const std::string_view field : fields) known += (known.empty() ? "'" : ", '") + std::string(field) + "'";
  if (body.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Bad("the body is empty; it must be a JSON object with " + known);
  }
  Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded()) return Bad("the body is no valid JSON; it must be an object with " + known);
  if (!json.is_object()) return Bad("the body must be a JSON object with " + known + ", not " + TypeName(json));
  for (const auto& [name, value] : json.items()) {
    bool found = false;
    for (const std::string_view field : fields) found = found || name == field;
    if (!found) return Bad("unknown field '" + name + "'; known are " + known);
  }
  return json;
}

// Null: the emulator's own.
Result<std::shared_ptr<Clock>> ParseClock(const std::string& text) {
  constexpr std::string_view kScale = "scale=";
  if (text == "real") return std::shared_ptr<Clock>(std::shared_ptr<Clock>(), &SystemClock::Instance());
  if (text == "virtual") {
    // The bytes of clients in other processes can't be counted, so this clock is advanced by hand.
    return std::shared_ptr<Clock>(std::make_shared<VirtualClock>(VirtualClock::Options{.auto_jump = false}));
  }
  if (std::string_view(text).starts_with(kScale)) {
    const char* end = text.data() + text.size();
    double factor = 0;
    const auto [rest, error] = std::from_chars(text.data() + kScale.size(), end, factor);
    if (error == std::errc() && rest == end && std::isfinite(factor) && factor > 0 && factor <= kScaleMax) {
      return std::shared_ptr<Clock>(std::make_shared<ScaledClock>(factor));
    }
    return Bad("'clock' is \"" + text + "\"; the scale must be a number above 0 and at most 1000000");
  }
  return Bad("'clock' must be \"real\", \"virtual\" or \"scale=N\", not \"" + text + "\"");
}

Result<std::uint64_t> ParseCount(const Request& request, const char* name, std::uint64_t fallback) {
  const std::optional<std::string> text = request.QueryValue(name);
  if (!text.has_value()) return fallback;
  std::uint64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || rest != end) {
    return Bad("the query parameter '" + std::string(name) + "' must be a whole number of 0 or more, not \"" + *text +
               "\"");
  }
  return value;
}

}  // namespace

Result<TenantBody> ParseTenantBody(const std::string& body) {
  Result<Json> parsed = ParseObject(body, {"apiKey", "scenario", "seed", "clock", "strict"});
  if (!parsed) return std::move(parsed).error();
  const Json& json = *parsed;
  TenantBody tenant;

  const auto key = json.find("apiKey");
  if (key == json.end()) return Bad("'apiKey' is missing; it must be a string (\"\" for the tenant without a key)");
  if (!key->is_string()) return WrongType("apiKey", "a string", *key);
  tenant.options.api_key = key->get<std::string>();

  if (const auto seed = json.find("seed"); seed != json.end() && !seed->is_null()) {
    if (!seed->is_number_integer()) return WrongType("seed", "a whole number of 0 or more", *seed);
    if (!seed->is_number_unsigned()) return Bad("'seed' must be 0 or more");
    tenant.options.seed = seed->get<std::uint64_t>();
  }
  if (const auto clock = json.find("clock"); clock != json.end() && !clock->is_null()) {
    if (!clock->is_string()) return WrongType("clock", "a string", *clock);
    Result<std::shared_ptr<Clock>> made = ParseClock(clock->get<std::string>());
    if (!made) return std::move(made).error();
    tenant.options.clock = *std::move(made);
  }
  if (const auto strict = json.find("strict"); strict != json.end() && !strict->is_null()) {
    if (!strict->is_boolean()) return WrongType("strict", "true or false", *strict);
    tenant.options.strict = strict->get<bool>();
  }
  if (const auto scenario = json.find("scenario"); scenario != json.end() && !scenario->is_null()) {
    if (!scenario->is_string() && !scenario->is_object()) {
      return WrongType("scenario", "a scenario object, or the text of a scenario file", *scenario);
    }
    LoadedScenario loaded =
        ParseScenario(scenario->is_string() ? scenario->get<std::string>() : scenario->dump(2), "scenario");
    tenant.options.scenario = std::move(loaded.scenario);
    tenant.problems = std::move(loaded.problems);
  }
  return tenant;
}

Result<Duration> ParseAdvanceBody(const std::string& body) {
  Result<Json> parsed = ParseObject(body, {"by"});
  if (!parsed) return std::move(parsed).error();
  const auto by = parsed->find("by");
  if (by == parsed->end()) return Bad("'by' is missing; it must be a duration such as \"30s\"");
  if (!by->is_string()) return WrongType("by", "a duration such as \"30s\"", *by);
  const std::optional<Duration> duration = ParseDuration(by->get<std::string>());
  if (!duration.has_value()) {
    return Bad("'by' must be a duration such as \"250ms\", \"30s\" or \"24h\", not \"" + by->get<std::string>() + "\"");
  }
  return *duration;
}

Result<Page> ParsePage(const Request& request) {
  Page page;
  Result<std::uint64_t> after = ParseCount(request, "after", page.after);
  if (!after) return std::move(after).error();
  Result<std::uint64_t> limit = ParseCount(request, "limit", page.limit);
  if (!limit) return std::move(limit).error();
  page.after = *after;
  page.limit = *limit;
  return page;
}

}  // namespace opensandbox::emulator

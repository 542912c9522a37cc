#include "emulator/scenario/shapes.h"

#include <algorithm>
#include <cstdlib>

#include "emulator/core/operation.h"
#include "emulator/scenario/words.h"

namespace opensandbox::emulator {
namespace {

std::vector<std::string> With(std::vector<std::string> words, const char* more) {
  words.emplace_back(more);
  return words;
}

// Operations that concern one sandbox, so that its lifecycle script can wait for them.
std::vector<std::string> SandboxOperations() {
  std::vector<std::string> words = operation::All();
  std::erase_if(words, [](const std::string& word) {
    return word == operation::kCreateSandbox || word == operation::kListSandboxes || word == operation::kHealth;
  });
  return words;
}

std::vector<ObjectShape> MakeShapes() {
  const std::vector<std::string>& operations = operation::All();
  return {
      {"scenario",
       {{"$schema"},
        {"schemaVersion", true},
        {"name", true},
        {"description"},
        {"tags"},
        {"seed"},
        {"clock"},
        {"profile", false, {"docker"}},
        {"sandboxes"},
        {"execution"},
        {"faults"},
        {"listener"},
        {"matrix"},
        {"except"},
        {"clientSettings"},
        {"client"},
        {"expect"}}},
      {"sandboxRule", {{"id"}, {"match"}, {"lifecycle"}, {"endpoint"}, {"die"}}},
      {"sandboxMatch", {{"image"}, {"metadata"}, {"nth"}}},
      {"stage",
       {{"state", true},
        {"for"},
        {"jitter"},
        {"weight"},
        {"polls"},
        {"until", false, SandboxOperations()},
        {"reason"},
        {"message"}}},
      {"endpoint", {{"readyAfter"}, {"readyAfterPolls"}, {"never"}, {"omitEndpoint"}, {"refused"}, {"headers"}}},
      {"death",
       {{"after"},
        {"on", false, SandboxOperations()},
        {"nth"},
        {"afterEvents"},
        {"probability"},
        {"face", false, DeathFaceWords()}}},
      {"listenerRule",
       {{"id", true},
        {"do", true, {"refuse", "reset", "hang"}},
        {"nth"},
        {"first"},
        {"every"},
        {"probability"},
        {"window"},
        {"mayStayUnused"}}},
      {"executionRule", {{"id"}, {"match"}, {"events", true}}},
      {"executionMatch", {{"operation", false, {operation::kRunCode}}, {"code"}, {"language"}, {"image"}, {"nth"}}},
      {"event",
       {{"stdout"},
        {"stderr"},
        {"result"},
        {"error"},
        {"executionCount"},
        {"status"},
        {"bareError"},
        {"raw"},
        {"end", false, {"complete", "noCompletion", "silence", "silenceWithPings"}},
        {"repeat"},
        {"every"},
        {"delay"}}},
      {"generatedText", {{"fill"}, {"bytes", true}, {"lines"}, {"oneEvent"}}},
      {"executionError", {{"name", true}, {"value"}, {"traceback"}}},
      {"bareError", {{"code", true}, {"message"}}},
      {"fault",
       {{"id", true},
        {"on", true, With(operations, "*")},
        {"match"},
        {"nth"},
        {"first"},
        {"every"},
        {"probability"},
        {"window"},
        {"over"},
        {"commit"},
        {"commitAfter"},
        {"respond"},
        {"auth", false, {"missingKey", "invalidKey"}},
        {"patch"},
        {"append"},
        {"headers"},
        {"beforeStatusLine"},
        {"drop"},
        {"duplicate"},
        {"reorder"},
        {"insert"},
        {"coalesce"},
        {"split"},
        {"ending", false, {"clean", "noTerminator", "fin", "rst", "silence"}},
        {"cut"},
        {"stall"},
        {"throttle"},
        {"delay"},
        {"delayBody"},
        {"mayStayUnused"}}},
      {"faultMatch", {{"header"}, {"withoutHeader"}, {"body"}, {"image"}}},
      {"window", {{"from"}, {"until"}}},
      {"quota", {{"requests"}, {"per"}, {"live"}, {"streams"}}},
      {"latency", {{"from"}, {"to"}, {"median"}, {"sigma"}, {"max"}}},
      {"respond",
       {{"status"}, {"headers"}, {"body"}, {"bodyBase64"}, {"bodyGenerated"}, {"contentType"}, {"retryAfter"}}},
      {"generatedBody", {{"fill"}, {"bytes", true}}},
      {"eventSelector", {{"event"}, {"count"}, {"every"}, {"match"}}},
      {"duplicate", {{"event"}, {"count"}, {"every"}, {"match"}, {"times"}}},
      {"reorder", {{"event", true}, {"behind", true}}},
      {"insert", {{"event"}, {"count"}, {"every"}, {"match"}, {"text"}, {"base64"}, {"unframed"}}},
      {"coalesce", {{"event"}, {"count"}, {"every"}, {"match"}, {"bytes"}}},
      {"split",
       {{"event"}, {"count"}, {"every"}, {"match"}, {"bytes"}, {"atByte"}, {"fromEnd"}, {"inCharacters"}, {"gap"}}},
      {"cut",
       {{"at", false, {"beforeHeaders", "afterHeaders"}},
        {"atByte"},
        {"atEvent"},
        {"inCharacter"},
        {"inChunk", false, {"size", "data", "crlf"}},
        {"how", false, {"fin", "rst", "silence", "noTerminator"}}}},
      {"stall", {{"atEvent"}, {"atByte"}, {"for", true}}},
      {"throttle", {{"bytes"}, {"events"}, {"every"}}},
      {"clientSettings",
       {{"provider", false, {"opensandbox"}}, {"lostCreate", false, {"delete", "adopt"}}, {"retryAttemptsMax"}}},
      {"step", {{"create"}, {"run"}, {"delete"}, {"wait"}, {"ephemeral"}, {"cancelAfter"}, {"expect"}}},
      {"createStep", {{"image"}, {"timeout"}, {"readyTimeout"}, {"metadata"}}},
      {"runStep", {{"code", true}, {"language"}, {"deadline"}, {"idleTimeout"}, {"outputBytesMax"}}},
      {"deleteStep", {{"id"}}},
      {"ephemeralStep", {{"create"}, {"run", true}}},
      {"stepExpect",
       {{"error", false, ErrorWords()},
        {"message"},
        {"timeoutClock", false, TimeoutClockWords()},
        {"outcome", false, OutcomeWords()},
        {"cleanup", false, CleanupWords()},
        {"state"},
        {"reason"},
        {"stateMessage"},
        {"httpStatus"},
        {"attempts"},
        {"namesSandbox"},
        {"stdout"},
        {"stderr"},
        {"stdoutBytes"},
        {"executionError"},
        {"truncated"},
        {"deleted"},
        {"within"},
        {"atLeast"}}},
      {"expect",
       {{"live"},
        {"created"},
        {"deleted"},
        {"expired"},
        {"died"},
        {"leaks"},
        {"faults", false, {"allConsumed", "any"}},
        {"requests"},
        {"order", false, operations},
        {"within"}}},
      {"requestExpect", {{"operation", true, operations}, {"count"}, {"atLeast"}, {"atMost"}, {"within"}}},
      {"exactText", {{"exact", true}}},
  };
}

}  // namespace

const FieldShape* ObjectShape::Find(std::string_view field) const {
  const auto it = std::find_if(fields.begin(), fields.end(), [&](const FieldShape& f) { return f.name == field; });
  return it == fields.end() ? nullptr : &*it;
}

std::vector<std::string> ObjectShape::FieldNames() const {
  std::vector<std::string> names;
  for (const FieldShape& field : fields) names.push_back(field.name);
  return names;
}

const std::vector<ObjectShape>& ScenarioShapes() {
  static const auto* const kShapes = new std::vector<ObjectShape>(MakeShapes());
  return *kShapes;
}

const ObjectShape& ShapeNamed(std::string_view name) {
  for (const ObjectShape& shape : ScenarioShapes()) {
    if (shape.name == name) return shape;
  }
  std::abort();  // a programmer's mistake
}

}  // namespace opensandbox::emulator

#include <algorithm>

#include "emulator/scenario/load_parts.h"

namespace opensandbox::emulator {
namespace {

constexpr std::size_t kFillBytesMax = 4096;

struct EventField {
  const char* name;
  ExecutionEvent::Kind kind;
};
constexpr EventField kEventFields[] = {
    {"stdout", ExecutionEvent::Kind::kStdout},
    {"stderr", ExecutionEvent::Kind::kStderr},
    {"result", ExecutionEvent::Kind::kResult},
    {"error", ExecutionEvent::Kind::kError},
    {"executionCount", ExecutionEvent::Kind::kExecutionCount},
    {"status", ExecutionEvent::Kind::kStatus},
    {"bareError", ExecutionEvent::Kind::kBareError},
    {"raw", ExecutionEvent::Kind::kRaw},
};

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}
bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Whether the unit fits into each line a whole number of times; otherwise a character might be cut.
bool FitsEvenly(const GeneratedText& text) {
  if (text.lines == 0) return text.bytes % text.unit.size() == 0;
  return text.bytes % text.lines == 0 && (text.bytes / text.lines - 1) % text.unit.size() == 0;
}

GeneratedText LoadGenerated(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "generatedText");
  GeneratedText text;
  const std::optional<std::string> fill = reader.Text("fill", true);
  const std::optional<std::uint64_t> bytes = reader.Bytes("bytes", 1);
  const std::optional<std::uint64_t> lines = reader.Count("lines", 1);
  text.bytes = bytes.value_or(1);
  text.lines = lines.value_or(0);
  text.one_event = reader.Flag("oneEvent").value_or(false);
  const bool too_many_lines = bytes && lines && *lines > *bytes;
  if (too_many_lines) {
    reader.Complain("lines", "found " + std::to_string(*lines) + " lines for " + std::to_string(*bytes) +
                                 " bytes, expected no more lines than bytes");
  }
  if (!fill) return text;
  if (fill->empty() || fill->size() > kFillBytesMax || !IsPrintable(*fill)) {
    reader.Complain("fill", "found " + Quoted(*fill) +
                                ", expected 1 to 4096 bytes without control characters (line ends: \"lines\")");
    return text;
  }
  text.unit = *fill;
  if (bytes && !too_many_lines && !IsAscii(*fill) && !FitsEvenly(text)) {
    reader.Complain("fill", "found characters of several bytes that the size would cut, expected \"bytes\" to hold " +
                                Quoted(*fill) + " a whole number of times in each line");
  }
  return text;
}

// stdout and stderr: text, or an object that describes generated text.
void LoadOutput(const ObjectReader& reader, const char* name, ExecutionEvent* event) {
  const Spot spot = *reader.Find(name);
  if (spot.node->kind == JsonNode::Kind::kObject) {
    event->generated = LoadGenerated(reader.context(), spot);
  } else {
    event->text = reader.Text(name, true).value_or("");
  }
}

void LoadError(LoadContext& context, const Spot& spot, ExecutionEvent* event) {
  const ObjectReader reader(context, spot, "executionError");
  event->error_name = reader.Text("name", true).value_or("");
  event->error_value = reader.Text("value", true).value_or("");
  for (const Spot& line : reader.Items("traceback")) {
    if (line.node->kind == JsonNode::Kind::kString) {
      event->traceback.push_back(line.node->text);
    } else {
      context.Add(line.node->line, line.pointer, "found " + InWords(*line.node) + ", expected text");
    }
  }
}

void LoadBareError(LoadContext& context, const Spot& spot, ExecutionEvent* event) {
  const ObjectReader reader(context, spot, "bareError");
  event->error_name = reader.Text("code").value_or("");
  event->error_value = reader.Text("message", true).value_or("");
}

void LoadContent(const ObjectReader& reader, const EventField& field, ExecutionEvent* event) {
  event->kind = field.kind;
  switch (field.kind) {
    case ExecutionEvent::Kind::kStdout:
    case ExecutionEvent::Kind::kStderr:
      LoadOutput(reader, field.name, event);
      return;
    case ExecutionEvent::Kind::kResult:
      event->results = reader.TextMap(field.name);
      return;
    case ExecutionEvent::Kind::kError:
      LoadError(reader.context(), *reader.Find(field.name), event);
      return;
    case ExecutionEvent::Kind::kBareError:
      LoadBareError(reader.context(), *reader.Find(field.name), event);
      return;
    case ExecutionEvent::Kind::kExecutionCount:
      event->execution_count = static_cast<std::int64_t>(reader.Count(field.name, 0).value_or(0));
      return;
    case ExecutionEvent::Kind::kStatus:
      event->text = reader.Text(field.name).value_or("");
      return;
    case ExecutionEvent::Kind::kRaw:
      event->text = reader.Text(field.name, true).value_or("");
      if (reader.Find(field.name)->node->kind == JsonNode::Kind::kString && event->text.empty()) {
        reader.Complain(field.name, "found an empty string, expected the bytes to send");
      }
      return;
  }
}

// False after an event behind which nothing comes.
bool LoadEvent(const ObjectReader& reader, ExecutionScript* script) {
  std::vector<std::string> names;
  for (const EventField& field : kEventFields) names.emplace_back(field.name);
  names.emplace_back("end");
  if (!reader.is_object()) return true;
  const std::string name = reader.FirstOf(names);
  if (name.empty()) {
    reader.ComplainHere(
        "found an event that says nothing, expected stdout, stderr, result, error, executionCount, "
        "status, bareError, raw or end");
    return true;
  }
  reader.AtMostOne(names);
  const Duration delay = reader.Time("delay", false).value_or(Duration::zero());
  if (name == "end") {
    const std::string end = reader.Word("end").value_or("complete");
    script->end = end == "noCompletion"       ? ExecutionEnd::kNoCompletion
                  : end == "silence"          ? ExecutionEnd::kSilence
                  : end == "silenceWithPings" ? ExecutionEnd::kSilenceWithPings
                                              : ExecutionEnd::kComplete;
    script->delay_before_end = delay;
    for (const char* field : {"repeat", "every"}) {
      if (reader.Has(field)) {
        reader.Complain(field, "found \"" + std::string(field) + "\" at the end of the run, expected it at an event");
      }
    }
    return false;
  }
  ExecutionEvent event;
  event.delay = delay;
  const EventField* field = std::find_if(std::begin(kEventFields), std::end(kEventFields),
                                         [&](const EventField& f) { return f.name == name; });
  LoadContent(reader, *field, &event);
  const std::optional<Spot> repeat = reader.Find("repeat");
  if (repeat && repeat->node->kind == JsonNode::Kind::kString && repeat->node->text == "forever") {
    event.repeat = 0;
  } else if (repeat && repeat->node->kind == JsonNode::Kind::kString) {
    reader.Complain("repeat",
                    UnknownWord(Quoted(repeat->node->text), repeat->node->text, {"forever"}) + " or a number of times");
  } else {
    event.repeat = reader.Count("repeat", 1).value_or(1);
  }
  if (const auto every = reader.Time("every", false)) {
    event.every = *every;
    if (!repeat) reader.Complain("every", "found \"every\" without \"repeat\", expected both");
  }
  script->events.push_back(std::move(event));
  return script->events.back().repeat != 0;
}

}  // namespace

std::vector<ExecutionRule> LoadExecution(const ObjectReader& scenario, RuleIds& ids) {
  std::vector<ExecutionRule> rules;
  std::string matches_all;
  const std::vector<Spot> items = scenario.Items("execution");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ObjectReader reader(scenario.context(), items[i], "executionRule");
    ExecutionRule rule;
    rule.id = ids.Take(reader, "execution/" + std::to_string(i));
    if (const std::optional<Spot> spot = reader.Find("match")) {
      const ObjectReader match(scenario.context(), *spot, "executionMatch");
      rule.operation = match.Word("operation");
      rule.code = match.Pattern("code");
      rule.language = match.Pattern("language");
      rule.image = match.Pattern("image");
      rule.nth = match.SmallCount("nth", 1);
    }
    bool over = false;
    for (const Spot& item : reader.Items("events", false)) {
      const ObjectReader event(scenario.context(), item, "event");
      if (over) {
        event.ComplainHere("found an event that is never reached, expected none behind the end or an endless event");
        break;
      }
      over = !LoadEvent(event, &rule.script);
    }
    rule.script.rule_id = rule.id;
    if (!matches_all.empty()) {
      reader.ComplainHere("found a rule that is never reached, expected none behind " + matches_all +
                          ", which fits every execution");
    } else if (reader.is_object() && !reader.Has("match")) {
      matches_all = Quoted(rule.id);
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace opensandbox::emulator

#include <algorithm>

#include "emulator/scenario/load_parts.h"
#include "emulator/scenario/words.h"

namespace opensandbox::emulator {
namespace {

bool IsToken(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool IsHeaderValue(std::string_view value) { return value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos; }

void AddHeader(LoadContext& context, const std::string& name, const Spot& value, std::vector<Header>* headers) {
  if (value.node->kind == JsonNode::Kind::kBroken) return;
  if (value.node->kind != JsonNode::Kind::kString || !IsHeaderValue(value.node->text)) {
    context.Add(value.node->line, value.pointer,
                "found " + InWords(*value.node) + ", expected one line of text or an array of such");
    return;
  }
  headers->push_back({name, value.node->text});
}

std::vector<Header> LoadHeaders(const ObjectReader& respond) {
  std::vector<Header> headers;
  const std::optional<Spot> spot = respond.Find("headers");
  if (!spot) return headers;
  if (spot->node->kind != JsonNode::Kind::kObject) {
    respond.Complain("headers", "found " + InWords(*spot->node) + ", expected an object of header names and values");
    return headers;
  }
  for (const JsonMember& member : spot->node->members) {
    const Spot value{&member.value, PointerTo(spot->pointer, member.name)};
    if (!IsToken(member.name)) {
      respond.context().Add(member.line, value.pointer, "found " + Quoted(member.name) + ", expected a header name");
    } else if (member.value.kind == JsonNode::Kind::kArray) {
      for (std::size_t i = 0; i < member.value.items.size(); ++i) {
        AddHeader(respond.context(), member.name, {&member.value.items[i], PointerTo(value.pointer, i)}, &headers);
      }
    } else {
      AddHeader(respond.context(), member.name, value, &headers);
    }
  }
  return headers;
}

Respond LoadRespond(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "respond");
  Respond respond;
  respond.status = reader.SmallCount("status", 200, 599).value_or(200);
  respond.headers = LoadHeaders(reader);
  if (const std::optional<Spot> body = reader.Find("body")) {
    const bool text = body->node->kind == JsonNode::Kind::kString;
    respond.body = text ? body->node->text : CompactJson(*body->node);
  }
  if (const auto type = reader.Text("contentType", true)) {
    if (!IsHeaderValue(*type)) reader.Complain("contentType", "found a line break, expected one line of text");
    respond.content_type = *type;
  }
  if (reader.Has("retryAfter")) {
    const auto pause = reader.Time("retryAfter");
    if (pause && *pause % std::chrono::seconds(1) != Duration::zero()) {
      reader.Complain("retryAfter", "found a part of a second, expected whole seconds (anything else: \"headers\")");
    } else if (pause) {
      respond.retry_after = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(*pause).count());
    }
  }
  return respond;
}

CutFault LoadCut(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "cut");
  CutFault cut;
  const std::optional<std::string> at = reader.Word("at");
  cut.before_headers = at == "beforeHeaders";
  cut.after_headers = at == "afterHeaders";
  cut.at_event = reader.Count("atEvent", 0);
  cut.at_byte = reader.Count("atByte", 0);
  cut.in_character = reader.Flag("inCharacter").value_or(false);
  if (const auto how = reader.Word("how")) cut.how = EndingFromWord(*how).value_or(Ending::kFin);
  if (!reader.is_object()) return cut;
  if (reader.FirstOf({"at", "atByte", "atEvent"}).empty()) {
    reader.ComplainHere("found a cut without a place, expected \"at\", \"atByte\" or \"atEvent\"");
  }
  if (reader.Has("at")) {
    for (const char* name : {"atByte", "atEvent"}) {
      if (reader.Has(name)) {
        reader.Complain(name, "found \"" + std::string(name) + "\" beside \"at\", expected only one place");
      }
    }
  }
  if (reader.Has("inCharacter")) {
    if (!reader.Has("atEvent")) {
      reader.Complain("inCharacter", "found \"inCharacter\" without \"atEvent\", expected the events before it");
    } else if (reader.Has("atByte")) {
      reader.Complain("inCharacter", "found \"inCharacter\" beside \"atByte\", expected only one of them");
    }
  }
  if (cut.before_headers && cut.how == Ending::kNoTerminator) {
    reader.Complain("how", "found noTerminator before the headers, expected fin, rst or silence");
  }
  return cut;
}

FaultTrigger LoadTrigger(const ObjectReader& rule) {
  FaultTrigger on;
  on.operation = rule.Word("on").value_or("");
  if (const std::optional<Spot> spot = rule.Find("match")) {
    const ObjectReader match(rule.context(), *spot, "faultMatch");
    on.header = match.PatternMap("header");
    on.body = match.Pattern("body");
    on.sandbox_image = match.Pattern("image");
  }
  on.nth = rule.Count("nth", 1);
  on.first = rule.Count("first", 1);
  on.every = rule.Count("every", 1);
  on.probability = rule.Number("probability");
  rule.AtMostOne({"nth", "first", "every", "probability"});
  if (on.probability && (*on.probability <= 0 || *on.probability > 1)) {
    rule.Complain("probability",
                  "found " + InWords(*rule.Find("probability")->node) + ", expected a number above 0 and at most 1");
  }
  if (rule.Has("probability") && !rule.context().has_seed) {
    rule.Complain("probability", "found chance without a seed, expected the scenario to have a \"seed\"");
  }
  if (const std::optional<Spot> spot = rule.Find("window")) {
    const ObjectReader window(rule.context(), *spot, "window");
    on.from = window.Time("from");
    on.until = window.Time("until", false);
    if (window.is_object() && !window.Has("from") && !window.Has("until")) {
      window.ComplainHere("found a window without limits, expected \"from\" or \"until\"");
    } else if (on.from && on.until && *on.until <= *on.from) {
      window.Complain("until", "found a window that ends before it begins, expected \"until\" after \"from\"");
    }
  }
  return on;
}

void CheckEffects(const ObjectReader& reader, const FaultRule& rule) {
  if (!reader.is_object()) return;
  if (reader.FirstOf({"respond", "append", "ending", "cut", "delay", "delayBody"}).empty()) {
    reader.ComplainHere(
        "found a fault that does nothing, expected \"respond\", \"append\", \"ending\", \"cut\", \"delay\" or "
        "\"delayBody\"");
    return;
  }
  if (reader.Has("ending") && reader.Has("cut")) {
    reader.Complain("ending",
                    "found \"ending\" beside \"cut\", expected only one of them (a cut comes before the end)");
  }
  if (reader.Has("respond") && rule.cut && rule.cut->at_event) {
    reader.Complain("cut", "found a cut at an event of a reply that \"respond\" makes, expected \"at\" or \"atByte\"");
  }
  if (rule.cut && rule.cut->before_headers) {
    for (const char* name : {"append", "delayBody"}) {
      if (reader.Has(name)) {
        reader.Complain(name, "found \"" + std::string(name) + "\" behind a cut before the headers, expected it gone");
      }
    }
  }
  // Without its effect there is no reply to send, so one must be made or none be sent.
  const bool nothing_sent = rule.cut && rule.cut->before_headers;
  if (reader.Has("commit") && rule.commit == Commit::kNo && !reader.Has("respond") && !nothing_sent) {
    reader.Complain("commit",
                    "found a request without effect and without a reply, expected \"respond\" or a cut "
                    "\"at\": \"beforeHeaders\"");
  }
}

}  // namespace

std::vector<FaultRule> LoadFaults(const ObjectReader& scenario, RuleIds& ids) {
  std::vector<FaultRule> rules;
  const std::vector<Spot> items = scenario.Items("faults");
  for (std::size_t i = 0; i < items.size(); ++i) {
    LoadContext& context = scenario.context();
    const ObjectReader reader(context, items[i], "fault");
    FaultRule rule;
    rule.id = ids.Take(reader, "faults/" + std::to_string(i));
    rule.on = LoadTrigger(reader);
    if (const auto spot = reader.Find("respond")) rule.respond = LoadRespond(context, *spot);
    rule.append = reader.Text("append", true);
    if (rule.append && rule.append->empty()) {
      reader.Complain("append", "found an empty string, expected the text to append");
    }
    if (const auto word = reader.Word("ending")) rule.ending = EndingFromWord(*word);
    if (const auto spot = reader.Find("cut")) rule.cut = LoadCut(context, *spot);
    rule.delay = reader.Time("delay", false);
    rule.delay_body = reader.Time("delayBody", false);
    const bool commit = reader.Flag("commit").value_or(!rule.respond);
    rule.commit = commit ? Commit::kYes : Commit::kNo;
    rule.may_stay_unused = reader.Flag("mayStayUnused").value_or(false);
    CheckEffects(reader, rule);
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace opensandbox::emulator

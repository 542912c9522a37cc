#include "emulator/scenario/load_fault_parts.h"
#include "emulator/scenario/words.h"

namespace opensandbox::emulator {
namespace {

constexpr double kSigmaMax = 5;

// The fields event, count, every and match, which every shape of a fault on events has.
EventSelector LoadSelector(const ObjectReader& reader) {
  EventSelector events;
  const auto event = reader.Count("event", 1);
  const auto count = reader.Count("count", 1);
  events.match = reader.Pattern("match");
  events.every = reader.Count("every", 1).value_or(1);
  if (event) events.first = *event;
  if (count) {
    events.last = events.first + *count - 1;
  } else if (event && !reader.Has("every")) {
    events.last = *event;
  }
  return events;
}

void NeedsSelection(const ObjectReader& reader) {
  if (!reader.is_object() || !reader.FirstOf({"event", "count", "every", "match"}).empty()) return;
  reader.ComplainHere(
      "found every event of the stream, expected \"event\", \"count\", \"every\" or \"match\" to choose some");
}

}  // namespace

EventSelector LoadDrop(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "eventSelector");
  NeedsSelection(reader);
  return LoadSelector(reader);
}

DuplicateFault LoadDuplicate(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "duplicate");
  NeedsSelection(reader);
  DuplicateFault duplicate;
  duplicate.events = LoadSelector(reader);
  duplicate.times = reader.Count("times", 1).value_or(1);
  return duplicate;
}

ReorderFault LoadReorder(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "reorder");
  ReorderFault reorder;
  reorder.event = reader.Count("event", 1).value_or(1);
  const auto behind = reader.Count("behind", 2);
  reorder.behind = behind.value_or(2);
  if (reader.is_object() && behind && *behind <= reorder.event) {
    reader.Complain("behind", "found an event that is not behind the other, expected a later one");
  }
  return reorder;
}

InsertFault LoadInsert(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "insert");
  InsertFault insert;
  NeedsSelection(reader);
  insert.events = LoadSelector(reader);
  insert.unframed = reader.Flag("unframed").value_or(false);
  reader.AtMostOne({"text", "base64"});
  if (auto text = reader.Text("text", true)) insert.bytes = *std::move(text);
  if (auto bytes = LoadBase64(reader, "base64")) insert.bytes = *std::move(bytes);
  const std::string name = reader.FirstOf({"text", "base64"});
  if (!reader.is_object()) return insert;
  if (name.empty()) {
    reader.ComplainHere("found nothing to insert, expected \"text\" or \"base64\"");
  } else if (reader.Find(name)->node->text.empty()) {
    reader.Complain(name, "found an empty string, expected the bytes to insert");
  }
  return insert;
}

CoalesceFault LoadCoalesce(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "coalesce");
  CoalesceFault coalesce;
  coalesce.events = LoadSelector(reader);
  coalesce.bytes = reader.Bytes("bytes", 1);
  if (reader.Has("event") && !reader.Has("count")) {
    coalesce.events.last = UINT64_MAX;  // from there on
  }
  if (reader.is_object() && reader.Has("count") && coalesce.events.last == coalesce.events.first) {
    reader.Complain("count", "found one event, expected at least 2 to put together");
  }
  return coalesce;
}

SplitFault LoadSplit(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "split");
  SplitFault split;
  split.events = LoadSelector(reader);
  split.bytes = reader.Bytes("bytes", 1);
  split.at_byte = reader.Count("atByte", 1);
  split.from_end = reader.Count("fromEnd", 1);
  split.in_characters = reader.Flag("inCharacters").value_or(false);
  split.gap = reader.Time("gap", false).value_or(Duration::zero());
  reader.AtMostOne({"bytes", "atByte", "fromEnd", "inCharacters"});
  if (reader.is_object() && reader.FirstOf({"bytes", "atByte", "fromEnd", "inCharacters"}).empty()) {
    reader.ComplainHere(
        "found a split without a place, expected \"bytes\", \"atByte\", \"fromEnd\" or \"inCharacters\"");
  }
  return split;
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
  if (const auto word = reader.Word("inChunk")) {
    cut.framing = *word == "size"   ? CutFault::Framing::kSize
                  : *word == "data" ? CutFault::Framing::kData
                                    : CutFault::Framing::kCrlf;
  }
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
  if (reader.Has("inChunk")) {
    if (!reader.Has("atEvent")) {
      reader.Complain("inChunk", "found \"inChunk\" without \"atEvent\", expected the events before it");
    } else if (reader.Has("inCharacter")) {
      reader.Complain("inChunk", "found \"inChunk\" beside \"inCharacter\", expected only one of them");
    } else if (reader.Has("atByte") && cut.framing != CutFault::Framing::kData) {
      reader.Complain("inChunk",
                      "found a chunk that breaks off elsewhere than in its data beside \"atByte\", expected "
                      "\"data\"");
    }
  }
  if (cut.before_headers && cut.how == Ending::kNoTerminator) {
    reader.Complain("how", "found noTerminator before the headers, expected fin, rst or silence");
  }
  return cut;
}

StallFault LoadStall(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "stall");
  StallFault stall;
  stall.at_event = reader.Count("atEvent", 0);
  stall.at_byte = reader.Count("atByte", 0);
  if (const auto time = LoadLatency(reader, "for")) stall.time = *time;
  if (reader.is_object() && reader.FirstOf({"atEvent", "atByte"}).empty()) {
    reader.ComplainHere("found a stall without a place, expected \"atEvent\" or \"atByte\"");
  }
  return stall;
}

ThrottleFault LoadThrottle(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "throttle");
  ThrottleFault throttle;
  throttle.bytes = reader.Bytes("bytes", 1);
  throttle.events = reader.Count("events", 1);
  throttle.every = reader.Time("every", false).value_or(std::chrono::seconds(1));
  reader.AtMostOne({"bytes", "events"});
  if (reader.is_object() && reader.FirstOf({"bytes", "events"}).empty()) {
    reader.ComplainHere("found a throttle without a limit, expected \"bytes\" or \"events\"");
  }
  if (!throttle.bytes && !throttle.events) throttle.bytes = 1;
  return throttle;
}

std::optional<Latency> LoadLatency(const ObjectReader& reader, const char* name) {
  const std::optional<Spot> spot = reader.Find(name);
  if (!spot) return std::nullopt;
  Latency latency;
  if (spot->node->kind != JsonNode::Kind::kObject) {
    const auto time = reader.Time(name, false);
    if (!time) return std::nullopt;
    latency.from = *time;
    return latency;
  }
  const ObjectReader drawn(reader.context(), *spot, "latency");
  const bool lognormal = drawn.Has("median");
  for (const char* other : {"from", "to"}) {
    if (lognormal && drawn.Has(other)) {
      drawn.Complain(other, "found \"" + std::string(other) + "\" beside \"median\", expected only one kind of draw");
    }
  }
  const std::vector<std::string> needed =
      lognormal ? std::vector<std::string>{"sigma", "max"} : std::vector<std::string>{"from", "to"};
  for (const std::string& name_needed : needed) {
    if (!drawn.Has(name_needed)) drawn.ComplainHere("found no field \"" + name_needed + "\", expected it here");
  }
  if (!reader.context().has_seed) {
    reader.Complain(name, "found chance without a seed, expected the scenario to have a \"seed\"");
  }
  if (lognormal) {
    latency.kind = Latency::Kind::kLognormal;
    latency.median = drawn.Time("median", false).value_or(Duration(1));
    latency.max = drawn.Time("max", false).value_or(latency.median);
    latency.sigma = drawn.Number("sigma").value_or(1);
    if (drawn.Has("sigma") && !(latency.sigma > 0 && latency.sigma <= kSigmaMax)) {
      drawn.Complain("sigma",
                     "found " + InWords(*drawn.Find("sigma")->node) + ", expected a number above 0 and at most 5");
    }
    if (latency.max < latency.median) {
      drawn.Complain("max", "found a longest time below the median, expected it above");
    }
    return latency;
  }
  latency.kind = Latency::Kind::kUniform;
  latency.from = drawn.Time("from").value_or(Duration::zero());
  latency.to = drawn.Time("to", false).value_or(latency.from);
  for (const char* other : {"sigma", "max"}) {
    if (drawn.Has(other)) {
      drawn.Complain(other, "found \"" + std::string(other) + "\" without \"median\", expected it gone");
    }
  }
  if (drawn.Has("to") && latency.to < latency.from) {
    drawn.Complain("to", "found the end below the beginning, expected \"to\" at or above \"from\"");
    latency.to = latency.from;
  }
  return latency;
}

}  // namespace opensandbox::emulator

#include "emulator/scenario/load_parts.h"
#include "emulator/scenario/words.h"

namespace opensandbox::emulator {
namespace {

constexpr int kWeightMax = 1'000'000;

SandboxMatch LoadMatch(const ObjectReader& rule) {
  SandboxMatch match;
  const std::optional<Spot> spot = rule.Find("match");
  if (!spot) return match;
  const ObjectReader reader(rule.context(), *spot, "sandboxMatch");
  match.image = reader.Pattern("image");
  match.metadata = reader.PatternMap("metadata");
  match.nth = reader.SmallCount("nth", 1);
  return match;
}

ScriptedStage LoadStage(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "stage");
  ScriptedStage scripted;
  scripted.stage.state = reader.Text("state").value_or("");
  scripted.stage.reason = reader.Text("reason").value_or("");
  scripted.stage.message = reader.Text("message").value_or("");
  scripted.stage.duration = reader.Time("for", false);
  scripted.stage.polls = reader.SmallCount("polls", 1);
  scripted.stage.until = reader.Word("until");
  if (const auto jitter = reader.Time("jitter", false)) {
    scripted.jitter = *jitter;
    if (!reader.Has("for")) {
      reader.Complain("jitter", "found \"jitter\" without \"for\", expected the duration that it varies");
    } else if (scripted.stage.duration && *jitter > *scripted.stage.duration) {
      reader.Complain("jitter", "found a jitter longer than the duration itself, expected at most \"for\"");
    } else if (!context.has_seed) {
      reader.Complain("jitter", "found chance without a seed, expected the scenario to have a \"seed\"");
    }
  }
  if (const auto weight = reader.SmallCount("weight", 1, kWeightMax)) {
    scripted.weight = *weight;
    if (!context.has_seed) {
      reader.Complain("weight", "found chance without a seed, expected the scenario to have a \"seed\"");
    }
  }
  return scripted;
}

// A stage is reached if the group of stages before it (one, or neighbours with weights) has a way out.
void CheckReachable(LoadContext& context, const std::vector<Spot>& items, const std::vector<ScriptedStage>& stages) {
  std::size_t group = 0;
  while (group < stages.size()) {
    std::size_t end = group + 1;
    if (stages[group].weight > 0) {
      while (end < stages.size() && stages[end].weight > 0) ++end;
    }
    bool way_out = false;
    for (std::size_t i = group; i < end; ++i) {
      if (items[i].node->kind != JsonNode::Kind::kObject) return;
      for (const JsonMember& member : items[i].node->members) {
        // A field with another name, reported already, may be meant for a way out.
        way_out = way_out || member.name == "for" || member.name == "polls" || member.name == "until" ||
                  ShapeNamed("stage").Find(member.name) == nullptr;
      }
    }
    if (!way_out && end < stages.size()) {
      context.Add(items[end].node->line, items[end].pointer,
                  "found a stage that is never reached, expected the one before it to have \"for\", \"polls\" or "
                  "\"until\"");
      return;
    }
    group = end;
  }
}

EndpointBehaviour LoadEndpoint(const ObjectReader& rule) {
  EndpointBehaviour endpoint;
  const std::optional<Spot> spot = rule.Find("endpoint");
  if (!spot) return endpoint;
  const ObjectReader reader(rule.context(), *spot, "endpoint");
  endpoint.ready_after = reader.Time("readyAfter", false);
  endpoint.ready_after_polls = reader.SmallCount("readyAfterPolls", 1);
  endpoint.never = reader.Flag("never").value_or(false);
  endpoint.omit_endpoint = reader.Flag("omitEndpoint").value_or(false);
  endpoint.refused = reader.Flag("refused").value_or(false);
  endpoint.headers = reader.TextMap("headers");
  if (endpoint.never) {
    for (const char* name : {"readyAfter", "readyAfterPolls", "omitEndpoint", "refused", "headers"}) {
      if (reader.Has(name)) {
        reader.Complain(name, "found \"" + std::string(name) + "\" beside \"never\", expected only one of them");
      }
    }
  }
  if (reader.is_object() &&
      reader.FirstOf({"readyAfter", "readyAfterPolls", "never", "omitEndpoint", "refused", "headers"}).empty()) {
    reader.ComplainHere("found an endpoint without any field, expected it to say what is special");
  }
  return endpoint;
}

std::optional<DeathBehaviour> LoadDeath(const ObjectReader& rule) {
  const std::optional<Spot> spot = rule.Find("die");
  if (!spot) return std::nullopt;
  const ObjectReader reader(rule.context(), *spot, "death");
  DeathBehaviour death;
  death.after = reader.Time("after", false);
  death.on = reader.Word("on");
  death.nth = reader.Count("nth", 1).value_or(1);
  death.after_events = reader.Count("afterEvents", 1);
  death.probability = reader.Number("probability").value_or(1);
  if (!(death.probability > 0 && death.probability <= 1)) {
    reader.Complain("probability", "found " + InWords(*reader.Find("probability")->node) +
                                       ", expected a number above 0 and at most 1");
  } else if (reader.Has("probability") && !rule.context().has_seed) {
    reader.Complain("probability", "found chance without a seed, expected the scenario to have a \"seed\"");
  }
  if (const auto face = reader.Word("face")) death.face = *DeathFaceFromWord(*face);
  if (reader.is_object() && reader.FirstOf({"after", "on", "afterEvents"}).empty()) {
    reader.ComplainHere("found a death that never comes, expected \"after\", \"on\" or \"afterEvents\"");
  }
  if (reader.Has("nth") && !reader.Has("on")) {
    reader.Complain("nth", "found \"nth\" without \"on\", expected the operation that it counts");
  }
  return death;
}

}  // namespace

std::string RuleIds::Take(const ObjectReader& rule, const std::string& fallback) {
  std::string id = fallback;
  if (rule.Has("id")) {
    const std::optional<std::string> given = rule.Text("id");
    if (!given) return fallback;
    if (given->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos) {
      rule.Complain("id", "found " + Quoted(*given) + ", expected an id of lower-case letters, digits and hyphens");
      return fallback;
    }
    id = *given;
  }
  if (!taken_.insert(id).second) {
    rule.Complain("id", "found the id " + Quoted(id) + " a second time, expected each rule to have its own");
  }
  return id;
}

std::vector<SandboxRule> LoadSandboxes(const ObjectReader& scenario, RuleIds& ids) {
  std::vector<SandboxRule> rules;
  std::string matches_all;
  const std::vector<Spot> items = scenario.Items("sandboxes");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ObjectReader reader(scenario.context(), items[i], "sandboxRule");
    SandboxRule rule;
    rule.id = ids.Take(reader, "sandboxes/" + std::to_string(i));
    rule.match = LoadMatch(reader);
    const std::vector<Spot> stages = reader.Items("lifecycle", false);
    for (const Spot& stage : stages) {
      rule.lifecycle.push_back(LoadStage(scenario.context(), stage));
    }
    CheckReachable(scenario.context(), stages, rule.lifecycle);
    rule.endpoint = LoadEndpoint(reader);
    rule.death = LoadDeath(reader);
    if (reader.is_object() && reader.FirstOf({"lifecycle", "endpoint", "die"}).empty()) {
      reader.ComplainHere("found a rule that changes nothing, expected \"lifecycle\", \"endpoint\" or \"die\"");
    }
    if (!matches_all.empty()) {
      reader.ComplainHere("found a rule that is never reached, expected none behind " + matches_all +
                          ", which fits every sandbox");
    } else if (reader.is_object() && !reader.Has("match")) {
      matches_all = Quoted(rule.id);
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace opensandbox::emulator

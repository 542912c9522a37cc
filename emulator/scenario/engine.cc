#include "emulator/scenario/engine.h"

#include <algorithm>

#include "emulator/scenario/json_document.h"
#include "opensandbox/base/random.h"

namespace opensandbox::emulator {
namespace {

bool FitsSandbox(const SandboxMatch& match, std::uint64_t create, const std::string& image,
                 const std::map<std::string, std::string>& metadata) {
  if (match.image && !Matches(*match.image, image)) return false;
  for (const auto& [key, pattern] : match.metadata) {
    const auto it = metadata.find(key);
    if (it == metadata.end() || !Matches(pattern, it->second)) return false;
  }
  return !match.nth || static_cast<std::uint64_t>(*match.nth) == create;
}

bool FitsFault(const FaultTrigger& on, const OperationCall& call) {
  if (on.operation != "*" && on.operation != call.operation) return false;
  if (on.from && call.since_load < *on.from) return false;
  if (on.until && call.since_load >= *on.until) return false;
  if (on.sandbox_image && !Matches(*on.sandbox_image, call.sandbox_image)) return false;
  if (on.header.empty() && !on.body) return true;
  if (call.request == nullptr) return false;
  if (on.body && !Matches(*on.body, call.request->body)) return false;
  return std::all_of(on.header.begin(), on.header.end(), [&](const auto& header) {
    const std::optional<std::string> value = call.request->FindHeader(header.first);
    return value && Matches(header.second, *value);
  });
}

// `fit` counts the fitting requests, this one included.
bool IsTurn(const FaultRule& rule, std::uint64_t fit, std::uint64_t seed) {
  if (rule.on.nth) return fit == *rule.on.nth;
  if (rule.on.first) return fit <= *rule.on.first;
  if (rule.on.every) return fit % *rule.on.every == 0;
  if (rule.on.probability) {
    return SeededRandom::ForPurpose(seed, "fault/" + rule.id, fit).Uniform() < *rule.on.probability;
  }
  return true;
}

Duration Jittered(const ScriptedStage& scripted, SeededRandom& random) {
  const Duration span = scripted.jitter * 2 + Duration(1);
  const auto draw = static_cast<Duration::rep>(random.Below(static_cast<std::uint64_t>(span.count())));
  return std::max(Duration::zero(), *scripted.stage.duration - scripted.jitter + Duration(draw));
}

// Neighbours with weights are alternatives: one of each group stays.
std::vector<Stage> DrawStages(const std::vector<ScriptedStage>& lifecycle, SeededRandom random) {
  std::vector<Stage> stages;
  for (std::size_t i = 0; i < lifecycle.size();) {
    std::size_t end = i + 1;
    std::size_t chosen = i;
    if (lifecycle[i].weight > 0) {
      std::uint64_t total = 0;
      for (end = i; end < lifecycle.size() && lifecycle[end].weight > 0; ++end) {
        total += static_cast<std::uint64_t>(lifecycle[end].weight);
      }
      std::uint64_t draw = random.Below(total);
      while (draw >= static_cast<std::uint64_t>(lifecycle[chosen].weight)) {
        draw -= static_cast<std::uint64_t>(lifecycle[chosen].weight);
        ++chosen;
      }
    }
    Stage stage = lifecycle[chosen].stage;
    if (stage.duration && lifecycle[chosen].jitter > Duration::zero()) {
      stage.duration = Jittered(lifecycle[chosen], random);
    }
    stages.push_back(std::move(stage));
    i = end;
  }
  return stages;
}

// Of one execution rule: how many conditions hold before the first that does not, and that one in words.
struct Closeness {
  int held = 0;
  std::string difference;  // empty: everything but nth fits
};

Closeness Compare(const ExecutionRule& rule, const ExecutionCall& call) {
  Closeness result;
  const auto check = [&](const char* what, const std::optional<TextPattern>& pattern, const std::string& value) {
    if (!pattern || !result.difference.empty()) return;
    if (Matches(*pattern, value)) {
      ++result.held;
    } else {
      result.difference =
          std::string("its ") + what + " is " + Quoted(value) + ", the rule wants " + Quoted(pattern->text);
    }
  };
  if (rule.operation && *rule.operation != call.operation) {
    result.difference = "its operation is " + call.operation + ", the rule wants " + *rule.operation;
    return result;
  }
  if (rule.operation) ++result.held;
  check("language", rule.language, call.language);
  check("image", rule.image, call.sandbox_image);
  check("code", rule.code, call.code);
  return result;
}

}  // namespace

std::vector<std::string> Decision::RuleIds() const {
  std::vector<std::string> ids;
  for (const FaultRule* rule : rules) ids.push_back(rule->id);
  return ids;
}

ScenarioEngine::ScenarioEngine(std::shared_ptr<const Scenario> scenario, std::uint64_t seed)
    : scenario_(std::move(scenario)),
      seed_(seed),
      sandbox_fits_(scenario_->sandboxes.size()),
      execution_fits_(scenario_->execution.size()) {
  for (const FaultRule& rule : scenario_->faults) usage_.push_back({rule.id, 0, 0, rule.may_stay_unused});
}

SandboxBehaviour ScenarioEngine::PlanSandbox(const std::string& image,
                                             const std::map<std::string, std::string>& metadata) {
  ++creates_;
  for (std::size_t i = 0; i < scenario_->sandboxes.size(); ++i) {
    const SandboxRule& rule = scenario_->sandboxes[i];
    if (!FitsSandbox(rule.match, creates_, image, metadata)) continue;
    const std::uint64_t occurrence = ++sandbox_fits_[i];
    SandboxBehaviour behaviour;
    behaviour.rule_id = rule.id;
    behaviour.stages = DrawStages(rule.lifecycle, SeededRandom::ForPurpose(seed_, "sandbox/" + rule.id, occurrence));
    behaviour.endpoint = rule.endpoint;
    return behaviour;
  }
  return {};
}

Decision ScenarioEngine::Decide(const OperationCall& call) {
  Decision decision;
  bool has_ending = false, has_cut = false;
  const FaultRule* responder = nullptr;
  for (std::size_t i = 0; i < scenario_->faults.size(); ++i) {
    const FaultRule& rule = scenario_->faults[i];
    if (!FitsFault(rule.on, call)) continue;
    if (!IsTurn(rule, ++usage_[i].fitted, seed_)) continue;
    const bool responds = rule.respond && responder == nullptr;
    const bool ends = rule.ending && !has_ending;
    const bool cuts = rule.cut && !has_cut;
    if (!responds && !ends && !cuts && !rule.append && !rule.delay && !rule.delay_body) continue;
    if (responds) responder = &rule;
    has_ending = has_ending || ends;
    has_cut = has_cut || cuts;
    ++usage_[i].fired;
    decision.rules.push_back(&rule);
  }
  if (responder != nullptr) {
    decision.respond = &*responder->respond;
    decision.commit = responder->commit == Commit::kYes;
  } else {
    decision.commit = std::none_of(decision.rules.begin(), decision.rules.end(),
                                   [](const FaultRule* rule) { return rule->commit == Commit::kNo && !rule->respond; });
  }
  return decision;
}

ExecutionScript ScenarioEngine::PlanExecution(const ExecutionCall& call, std::string* near_miss) {
  const ExecutionRule* closest = nullptr;
  Closeness best;
  for (std::size_t i = 0; i < scenario_->execution.size(); ++i) {
    const ExecutionRule& rule = scenario_->execution[i];
    Closeness closeness = Compare(rule, call);
    if (closeness.difference.empty()) {
      const std::uint64_t fit = ++execution_fits_[i];
      if (!rule.nth || static_cast<std::uint64_t>(*rule.nth) == fit) return rule.script;
      ++closeness.held;
      closeness.difference =
          "it is number " + std::to_string(fit) + " that fits, the rule wants number " + std::to_string(*rule.nth);
    }
    if (closest == nullptr || closeness.held > best.held) {
      closest = &rule;
      best = std::move(closeness);
    }
  }
  ++unmatched_executions_;
  if (near_miss != nullptr) {
    *near_miss = closest == nullptr ? "the scenario has no execution rules"
                                    : "the closest rule is " + closest->id + ": " + best.difference;
  }
  return {};
}

std::vector<RuleUsage> ScenarioEngine::FaultUsage() const { return usage_; }

std::shared_ptr<const Scenario> DefaultScenario() {
  static const auto* const kDefault = [] {
    auto scenario = std::make_shared<Scenario>();
    scenario->name = "default";
    scenario->description = "Everything works.";
    return new std::shared_ptr<const Scenario>(std::move(scenario));
  }();
  return *kDefault;
}

}  // namespace opensandbox::emulator

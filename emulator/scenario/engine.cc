#include "emulator/scenario/engine.h"

#include <algorithm>
#include <cmath>

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
  if (on.header.empty() && on.without_header.empty() && !on.body) return true;
  if (call.request == nullptr) return false;
  const auto is_missing = [&](const std::string& name) { return !call.request->FindHeader(name); };
  if (!on.without_header.empty() && std::none_of(on.without_header.begin(), on.without_header.end(), is_missing)) {
    return false;
  }
  if (on.body && !Matches(*on.body, call.request->body)) return false;
  return std::all_of(on.header.begin(), on.header.end(), [&](const auto& header) {
    const std::optional<std::string> value = call.request->FindHeader(header.first);
    return value && Matches(header.second, *value);
  });
}

// `fit` counts the fitting requests, this one included.
template <typename Trigger>
bool IsTurn(const Trigger& on, const std::string& id, std::uint64_t fit, std::uint64_t seed) {
  if (on.nth) return fit == *on.nth;
  if (on.first) return fit <= *on.first;
  if (on.every) return fit % *on.every == 0;
  if (on.probability) return SeededRandom::ForPurpose(seed, "fault/" + id, fit).Uniform() < *on.probability;
  return true;
}

// In whole microseconds, so that the last bits of a platform's logarithm do not show.
Duration Drawn(const Latency& latency, SeededRandom random) {
  switch (latency.kind) {
    case Latency::Kind::kFixed:
      break;
    case Latency::Kind::kUniform: {
      const auto span = std::chrono::duration_cast<std::chrono::microseconds>(latency.to - latency.from).count();
      return latency.from + std::chrono::microseconds(random.Below(static_cast<std::uint64_t>(span) + 1));
    }
    case Latency::Kind::kLognormal: {
      // Box and Muller; 1 - u is never 0.
      const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
      const double normal = radius * std::cos(2 * 3.14159265358979323846 * random.Uniform());
      const double factor = std::exp(latency.sigma * normal);
      const double median_us = std::chrono::duration<double, std::micro>(latency.median).count();
      const double max_us = std::chrono::duration<double, std::micro>(latency.max).count();
      return std::chrono::microseconds(std::llround(std::min(median_us * factor, max_us)));
    }
  }
  return latency.from;
}

bool HasStreamEffect(const FaultRule& rule) {
  return rule.drop || rule.duplicate || rule.reorder || rule.insert || rule.coalesce || rule.split || rule.stall ||
         rule.throttle;
}

// Whether the rule does anything besides answering, ending and cutting, of which only one rule has its way.
bool HasOwnEffect(const FaultRule& rule) {
  return HasStreamEffect(rule) || !rule.headers.empty() || rule.patch || rule.append || rule.before_status_line ||
         rule.delay || rule.delay_body;
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
      execution_fits_(scenario_->execution.size()),
      passed_(scenario_->faults.size()) {
  for (const FaultRule& rule : scenario_->faults) usage_.push_back({rule.id, 0, 0, rule.may_stay_unused});
  for (const ListenerRule& rule : scenario_->listener) {
    listener_usage_.push_back({rule.id, 0, 0, rule.may_stay_unused});
  }
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
    behaviour.death = rule.death;
    if (behaviour.death &&
        SeededRandom::ForPurpose(seed_, "death/" + rule.id, occurrence).Uniform() >= behaviour.death->probability) {
      behaviour.death.reset();
    }
    return behaviour;
  }
  return {};
}

bool ScenarioEngine::IsOver(std::size_t index, const OperationCall& call, Duration* until_free) {
  const Quota& quota = *scenario_->faults[index].on.over;
  if (quota.live) return call.live_sandboxes >= *quota.live;
  if (quota.streams) return call.open_streams >= *quota.streams;
  std::deque<Duration>& passed = passed_[index];
  while (!passed.empty() && passed.front() + quota.per <= call.since_load) passed.pop_front();
  if (passed.size() < *quota.requests) {
    passed.push_back(call.since_load);
    return false;
  }
  *until_free = passed.front() + quota.per - call.since_load;
  return true;
}

Decision ScenarioEngine::Decide(const OperationCall& call) {
  Decision decision;
  bool has_ending = false, has_cut = false;
  const FaultRule* responder = nullptr;
  for (std::size_t i = 0; i < scenario_->faults.size(); ++i) {
    const FaultRule& rule = scenario_->faults[i];
    if (!FitsFault(rule.on, call)) continue;
    Duration until_free{0};
    if (rule.on.over && !IsOver(i, call, &until_free)) continue;
    const std::uint64_t fit = ++usage_[i].fitted;
    if (!IsTurn(rule.on, rule.id, fit, seed_)) continue;
    const bool responds = (rule.respond || rule.auth) && responder == nullptr;
    const bool ends = rule.ending && !has_ending;
    const bool cuts = rule.cut && !has_cut;
    if (!responds && !ends && !cuts && !HasOwnEffect(rule)) continue;
    if (responds) {
      responder = &rule;
      decision.respond = rule.respond ? &*rule.respond : nullptr;
      decision.auth = rule.auth;
      if (rule.respond) decision.retry_after = rule.respond->retry_after;
      if (rule.respond && rule.respond->retry_after_reset) {
        decision.retry_after = std::to_string(std::chrono::ceil<std::chrono::seconds>(until_free).count());
      }
    }
    has_ending = has_ending || ends;
    has_cut = has_cut || cuts;
    const auto draw = [&](const std::optional<Latency>& latency, const char* purpose) {
      return latency ? Drawn(*latency, SeededRandom::ForPurpose(seed_, purpose + rule.id, fit)) : Duration::zero();
    };
    decision.delay += draw(rule.delay, "delay/");
    decision.delay_body += draw(rule.delay_body, "delayBody/");
    decision.stalls.push_back(rule.stall ? draw(rule.stall->time, "stall/") : Duration::zero());
    ++usage_[i].fired;
    decision.rules.push_back(&rule);
  }
  const FaultRule* decider = responder;
  if (decider == nullptr) {
    const auto found = std::find_if(decision.rules.begin(), decision.rules.end(), [](const FaultRule* rule) {
      return rule->commit != Commit::kYes && !rule->respond && !rule->auth;
    });
    if (found != decision.rules.end()) decider = *found;
  }
  if (decider != nullptr) decision.commit = decider->commit == Commit::kYes;
  if (decider != nullptr && decider->commit == Commit::kLate) decision.commit_after = decider->commit_after;
  return decision;
}

std::optional<ListenerRule::Action> ScenarioEngine::DecideConnection(Duration since_load) {
  std::optional<ListenerRule::Action> action;
  for (std::size_t i = 0; i < scenario_->listener.size(); ++i) {
    const ListenerRule& rule = scenario_->listener[i];
    if (rule.action == ListenerRule::Action::kRefuse) continue;
    if (since_load < rule.from || (rule.until && since_load >= *rule.until)) continue;
    if (!IsTurn(rule, rule.id, ++listener_usage_[i].fitted, seed_) || action) continue;
    ++listener_usage_[i].fired;
    action = rule.action;
  }
  return action;
}

void ScenarioEngine::NoteRefusing(std::size_t listener_rule) {
  ++listener_usage_[listener_rule].fitted;
  ++listener_usage_[listener_rule].fired;
}

void ScenarioEngine::NoteMissed(const std::string& rule_id) {
  for (RuleUsage& usage : usage_) {
    if (usage.id == rule_id && usage.fired > 0) --usage.fired;
  }
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

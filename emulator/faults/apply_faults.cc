#include "emulator/faults/append_fault.h"
#include "emulator/faults/coalesce_fault.h"
#include "emulator/faults/cut_fault.h"
#include "emulator/faults/delay_fault.h"
#include "emulator/faults/drop_fault.h"
#include "emulator/faults/duplicate_fault.h"
#include "emulator/faults/ending_fault.h"
#include "emulator/faults/fault.h"
#include "emulator/faults/header_fault.h"
#include "emulator/faults/insert_fault.h"
#include "emulator/faults/patch_fault.h"
#include "emulator/faults/reorder_fault.h"
#include "emulator/faults/respond_fault.h"
#include "emulator/faults/split_fault.h"
#include "emulator/faults/stall_fault.h"
#include "emulator/faults/throttle_fault.h"

namespace opensandbox::emulator {
namespace {

bool WaitsForAPlace(const FaultRule& rule) {
  return rule.patch || rule.drop || rule.duplicate || rule.reorder || rule.insert || rule.coalesce || rule.split ||
         rule.stall;
}

}  // namespace

ReplyPlan ApplyFaults(const Decision& decision, ReplyPlan plan, const FaultContext& context) {
  const std::vector<const FaultRule*>& rules = decision.rules;
  std::vector<Acted> acted(rules.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (context.placed == nullptr || !WaitsForAPlace(*rules[i])) continue;
    acted[i] = std::make_shared<bool>(false);
    context.placed->emplace_back(rules[i]->id, acted[i]);
  }

  if (decision.respond != nullptr) {
    Respond respond = *decision.respond;
    respond.retry_after = decision.retry_after;
    plan = ApplyRespond(respond, std::move(plan), context);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i]->patch) plan = ApplyPatch(*rules[i]->patch, std::move(plan), acted[i]);
  }
  for (const FaultRule* rule : rules) {
    if (rule->append) plan = ApplyAppend(*rule->append, std::move(plan));
  }
  for (const FaultRule* rule : rules) plan = ApplyHeaders(rule->headers, std::move(plan));

  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i]->drop) plan = ApplyDrop(*rules[i]->drop, std::move(plan), acted[i]);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i]->duplicate) plan = ApplyDuplicate(*rules[i]->duplicate, std::move(plan), acted[i]);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i]->reorder) plan = ApplyReorder(*rules[i]->reorder, std::move(plan), acted[i]);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i]->insert) plan = ApplyInsert(*rules[i]->insert, std::move(plan), acted[i]);
  }

  for (const FaultRule* rule : rules) {
    if (!rule->ending) continue;
    plan = ApplyEnding(*rule->ending, std::move(plan));
    break;
  }
  for (const FaultRule* rule : rules) {
    if (!rule->cut) continue;
    plan = ApplyCut(*rule->cut, std::move(plan));
    break;
  }

  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i]->stall) plan = ApplyStall(*rules[i]->stall, decision.stalls[i], std::move(plan), acted[i]);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i]->coalesce) plan = ApplyCoalesce(*rules[i]->coalesce, std::move(plan), acted[i]);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i]->split) plan = ApplySplit(*rules[i]->split, std::move(plan), acted[i]);
  }
  for (const FaultRule* rule : rules) {
    if (rule->throttle) plan = ApplyThrottle(*rule->throttle, std::move(plan));
  }
  for (const FaultRule* rule : rules) {
    if (rule->before_status_line) plan.garbage_before_head += *rule->before_status_line;
  }
  return ApplyDelay(decision.delay, decision.delay_body, std::move(plan));
}

}  // namespace opensandbox::emulator

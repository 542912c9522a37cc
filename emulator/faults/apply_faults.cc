#include "emulator/faults/append_fault.h"
#include "emulator/faults/cut_fault.h"
#include "emulator/faults/delay_fault.h"
#include "emulator/faults/ending_fault.h"
#include "emulator/faults/fault.h"
#include "emulator/faults/respond_fault.h"

namespace opensandbox::emulator {

ReplyPlan ApplyFaults(const Decision& decision, ReplyPlan plan, const FaultContext& context) {
  if (decision.respond != nullptr) plan = ApplyRespond(*decision.respond, std::move(plan), context);
  for (const FaultRule* rule : decision.rules) {
    if (rule->append) plan = ApplyAppend(*rule->append, std::move(plan));
  }
  for (const FaultRule* rule : decision.rules) {
    if (!rule->ending) continue;
    plan = ApplyEnding(*rule->ending, std::move(plan));
    break;
  }
  for (const FaultRule* rule : decision.rules) {
    if (!rule->cut) continue;
    plan = ApplyCut(*rule->cut, std::move(plan));
    break;
  }
  for (const FaultRule* rule : decision.rules) {
    plan = ApplyDelay(rule->delay.value_or(Duration::zero()), rule->delay_body.value_or(Duration::zero()),
                      std::move(plan));
  }
  return plan;
}

}  // namespace opensandbox::emulator

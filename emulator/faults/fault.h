// A fault transforms the plan of a reply. One file per fault; all are pure.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_FAULT_H_

#include "emulator/core/reply_plan.h"
#include "emulator/scenario/engine.h"

namespace opensandbox::emulator {

struct FaultContext {
  WallTime wall_now{};
  std::string request_id;  // echoed in replies that a `respond` makes
};

// Applies a decision to the plan that the surface made (or to an empty one if the operation was not committed). Order:
// respond, append, ending, cut, delay. `plan` is the surface's answer; its on_end is kept.
ReplyPlan ApplyFaults(const Decision& decision, ReplyPlan plan, const FaultContext& context);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_FAULT_H_

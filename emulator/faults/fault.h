// A fault transforms the plan of a reply. One file per fault; all are pure.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_FAULT_H_

#include <string>

#include "emulator/core/reply_plan.h"
#include "emulator/scenario/engine.h"

namespace opensandbox::emulator {

struct FaultContext {
  WallTime wall_now{};
  std::string request_id;    // echoed in replies that a `respond` makes
  bool execd_style = false;  // the request is for execd: such a reply looks like execd's, not the lifecycle server's
};

// Applies a decision to the plan that the surface made (or to an empty one if the operation was not committed), always
// in this order, whatever the order in the file: respond, append, ending, cut, delay. So a cut counts the bytes of the
// reply that was put in place of the surface's, appended ones included, and comes before the end. `plan` is the
// surface's answer; its on_end is kept.
ReplyPlan ApplyFaults(const Decision& decision, ReplyPlan plan, const FaultContext& context);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_FAULT_H_

// A fault transforms the plan of a reply. One file per fault; all are pure.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_FAULT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/core/reply_plan.h"
#include "emulator/scenario/engine.h"

namespace opensandbox::emulator {

// Set once a fault that waits for a place in the reply has acted. Used by the connection's thread only; may be null.
using Acted = std::shared_ptr<bool>;
inline void SetActed(const Acted& acted) {
  if (acted != nullptr) *acted = true;
}

struct FaultContext {
  WallTime wall_now{};
  std::string request_id;    // echoed in replies that a `respond` makes
  bool execd_style = false;  // the request is for execd: such a reply looks like execd's, not the lifecycle server's
  // If not null: gets the ids of the rules that act only at a place in the reply, and whether they have, which is known
  // when the exchange is over. A cut is not among them: how the exchange ended tells of it.
  std::vector<std::pair<std::string, Acted>>* placed = nullptr;
};

// Applies a decision to the plan that the surface made (or to an empty one if the operation was not committed), always
// in this order, whatever the order in the file:
//   respond, patch, append, headers,            what the reply is
//   drop, duplicate, reorder, insert,           which events it has
//   ending, cut,                                where it stops
//   stall, coalesce, split, throttle, delays    how it comes
// Each works on what those before it made: a place counts the events that are left, appended text is no event but
// counts as bytes, a cut comes before the end. Of several rules with the same effect the first in the file goes first.
// `plan` is the surface's answer (or, for `auth`, its refusal); its on_end is kept.
ReplyPlan ApplyFaults(const Decision& decision, ReplyPlan plan, const FaultContext& context);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_FAULT_H_

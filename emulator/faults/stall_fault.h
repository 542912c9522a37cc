// A reply that rests in its body and then goes on.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_STALL_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_STALL_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// The place is found as a cut's is; what comes behind it waits for `time`.
ReplyPlan ApplyStall(const StallFault& stall, Duration time, ReplyPlan plan, Acted acted = nullptr);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_STALL_FAULT_H_

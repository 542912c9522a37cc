// A reply that stops in the middle.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_CUT_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_CUT_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// Places in the head and at a byte of the body are the executor's (ReplyPlan::cut). A place counted in events is found
// while the stream is made: every event counts, execd's `init` and pings too. If the stream ends before, nothing is
// cut; the verdict tells.
ReplyPlan ApplyCut(const CutFault& cut, ReplyPlan plan);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_CUT_FAULT_H_

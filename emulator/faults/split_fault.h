// Events of a stream that arrive in pieces.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_SPLIT_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_SPLIT_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// Each piece is a chunk and a packet of its own. A reply that is no stream is left alone.
ReplyPlan ApplySplit(const SplitFault& split, ReplyPlan plan, Acted acted = nullptr);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_SPLIT_FAULT_H_

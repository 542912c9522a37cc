// Events of a stream that arrive more than once.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_DUPLICATE_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_DUPLICATE_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// The copies follow at once. An event of more than 64 MiB is not repeated. A reply that is no stream is left alone.
ReplyPlan ApplyDuplicate(const DuplicateFault& duplicate, ReplyPlan plan, Acted acted = nullptr);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_DUPLICATE_FAULT_H_

// Events of a stream that never arrive.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_DROP_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_DROP_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// A reply that is no stream is left alone.
ReplyPlan ApplyDrop(const EventSelector& events, ReplyPlan plan, Acted acted = nullptr);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_DROP_FAULT_H_

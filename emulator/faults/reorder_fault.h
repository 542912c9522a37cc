// An event of a stream that arrives behind a later one.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_REORDER_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_REORDER_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// If the stream ends before the later one came, the event comes last. A reply that is no stream is left alone.
ReplyPlan ApplyReorder(const ReorderFault& reorder, ReplyPlan plan, Acted acted = nullptr);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_REORDER_FAULT_H_

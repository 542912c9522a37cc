// Bytes that are no event, in a stream.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_INSERT_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_INSERT_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// A reply that is no stream is left alone.
ReplyPlan ApplyInsert(const InsertFault& insert, ReplyPlan plan, Acted acted = nullptr);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_INSERT_FAULT_H_

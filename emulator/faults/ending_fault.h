// Another end than the proper one, behind the last byte of the body.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_ENDING_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_ENDING_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// A stream without an end of its own has none to replace.
ReplyPlan ApplyEnding(Ending ending, ReplyPlan plan);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_ENDING_FAULT_H_

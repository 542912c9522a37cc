// A pause before the head or between head and body.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_DELAY_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_DELAY_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// Added to the pauses that the plan has. The request has taken effect before them.
ReplyPlan ApplyDelay(Duration before_head, Duration before_body, ReplyPlan plan);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_DELAY_FAULT_H_

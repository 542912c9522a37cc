// A reply whose body comes slowly.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_THROTTLE_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_THROTTLE_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// At most so many bytes or events in each interval, counted from the first; larger pieces are split.
ReplyPlan ApplyThrottle(const ThrottleFault& throttle, ReplyPlan plan);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_THROTTLE_FAULT_H_

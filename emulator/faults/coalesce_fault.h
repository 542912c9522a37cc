// Events of a stream that arrive together.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_COALESCE_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_COALESCE_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// Each group goes out as one chunk in one packet once its last event is there; if the stream ends behind it, the end is
// in the same packet. At most 64 MiB are held. A reply that is no stream is left alone.
ReplyPlan ApplyCoalesce(const CoalesceFault& coalesce, ReplyPlan plan, Acted acted = nullptr);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_COALESCE_FAULT_H_

// Header fields of the reply that goes out.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_HEADER_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_HEADER_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// A field of the same name (any case) is replaced where it stands, further ones of that name are taken away; a new one
// comes last. Content-Length and Transfer-Encoding may be wrong or missing afterwards: the body is sent all the same.
ReplyPlan ApplyHeaders(const std::vector<HeaderEdit>& edits, ReplyPlan plan);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_HEADER_FAULT_H_

// Other values in a JSON body.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_PATCH_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_PATCH_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// A merge patch (RFC 7396): members with null go, others take the place of those of the same name or are added. A body
// that is no JSON object is left alone.
ReplyPlan ApplyPatch(const std::string& patch, ReplyPlan plan, Acted acted = nullptr);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_PATCH_FAULT_H_

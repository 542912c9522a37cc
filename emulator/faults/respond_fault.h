// A reply in place of the surface's.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_RESPOND_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_RESPOND_FAULT_H_

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// The head is the lifecycle server's (date, server, content-length, content-type, x-request-id: wire reference 1.1) or
// execd's (Content-Type, Date, Content-Length: 2.1), then the rule's headers; one of the same name takes the place of
// the standard one, a wrong Content-Length included. Without a body: the server's words for an error status (1.4),
// nothing for another. 204 and 304 have neither body nor its headers unless the rule gives a body.
ReplyPlan ApplyRespond(const Respond& respond, ReplyPlan plan, const FaultContext& context);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_RESPOND_FAULT_H_

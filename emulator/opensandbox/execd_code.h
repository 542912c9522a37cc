// execd's code execution: POST and DELETE /code, code contexts (wire reference 2.6).
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_CODE_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_CODE_H_

#include <string>

#include "emulator/opensandbox/execd_reply.h"

namespace opensandbox::emulator {

ReplyPlan RunCode(const PortRequest& request);
ReplyPlan InterruptCode(const PortRequest& request);  // also DELETE /command: one handler
ReplyPlan CreateContext(const PortRequest& request);
ReplyPlan ListContexts(const PortRequest& request);
ReplyPlan DeleteContexts(const PortRequest& request);
ReplyPlan GetContext(const PortRequest& request, const std::string& id);
ReplyPlan DeleteContext(const PortRequest& request, const std::string& id);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_CODE_H_

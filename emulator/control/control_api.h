// The control API: HTTP for test programs, on a listener of its own.
#ifndef OPENSANDBOX_EMULATOR_CONTROL_CONTROL_API_H_
#define OPENSANDBOX_EMULATOR_CONTROL_CONTROL_API_H_

#include <functional>

#include "emulator/core/http_message.h"
#include "emulator/core/reply_plan.h"
#include "emulator/service/emulator.h"

namespace opensandbox::emulator {

// Answers one control request. Refuses (403) a Host that is no loopback name or address, and any Origin header.
// `request_shutdown` is called for POST /shutdown.
ReplyPlan HandleControl(Emulator& emulator, const Request& request, const std::function<void()>& request_shutdown);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CONTROL_CONTROL_API_H_

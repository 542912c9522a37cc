// Turns a reply plan into bytes on a connection.
#ifndef OPENSANDBOX_EMULATOR_HTTP_PLAN_EXECUTOR_H_
#define OPENSANDBOX_EMULATOR_HTTP_PLAN_EXECUTOR_H_

#include "emulator/core/reply_plan.h"
#include "emulator/http/connection_stream.h"

namespace opensandbox::emulator {

struct ExchangeRules {
  bool head_request = false;  // the reply has no body, whatever the plan says
  bool close_after = false;   // also after Ending::kComplete
  bool linger = false;        // the request was not read to its end; see ConnectionStream::CloseFin
};

// Sends the reply on `stream`, with all waits on the stream's clock, and tells `plan.on_end`. Returns whether the
// connection is still open and fit for another request; otherwise it is closed as planned.
bool ExecutePlan(ConnectionStream& stream, ReplyPlan plan, const ExchangeRules& rules);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_HTTP_PLAN_EXECUTOR_H_

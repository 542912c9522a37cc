#include "emulator/faults/delay_fault.h"

namespace opensandbox::emulator {

ReplyPlan ApplyDelay(Duration before_head, Duration before_body, ReplyPlan plan) {
  plan.delay_before_head += before_head;
  plan.delay_before_body += before_body;
  return plan;
}

}  // namespace opensandbox::emulator

// Text behind a reply's own, before its end.
#ifndef OPENSANDBOX_EMULATOR_FAULTS_APPEND_FAULT_H_
#define OPENSANDBOX_EMULATOR_FAULTS_APPEND_FAULT_H_

#include <string>

#include "emulator/faults/fault.h"

namespace opensandbox::emulator {

// Of a stream that ends by itself: one more piece, no event, just before the end. Of a fixed body: part of it, and
// Content-Length counts it.
ReplyPlan ApplyAppend(const std::string& text, ReplyPlan plan);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_FAULTS_APPEND_FAULT_H_

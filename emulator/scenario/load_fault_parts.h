// The parts of a fault rule, each read by its own function.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_LOAD_FAULT_PARTS_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_LOAD_FAULT_PARTS_H_

#include <optional>
#include <string>
#include <vector>

#include "emulator/scenario/object_reader.h"

namespace opensandbox::emulator {

// --- load_fault_reply.cc: what the reply is -------------------------------------------------------------------------
Respond LoadRespond(LoadContext& context, const Spot& spot);
// Of a rule's field "headers"; null takes a field away.
std::vector<HeaderEdit> LoadHeaderEdits(const ObjectReader& rule);
// The field's bytes, decoded; reports what is no base64.
std::optional<std::string> LoadBase64(const ObjectReader& reader, const char* name);

// --- load_fault_stream.cc: what becomes of a stream -----------------------------------------------------------------
EventSelector LoadDrop(LoadContext& context, const Spot& spot);
DuplicateFault LoadDuplicate(LoadContext& context, const Spot& spot);
ReorderFault LoadReorder(LoadContext& context, const Spot& spot);
InsertFault LoadInsert(LoadContext& context, const Spot& spot);
CoalesceFault LoadCoalesce(LoadContext& context, const Spot& spot);
SplitFault LoadSplit(LoadContext& context, const Spot& spot);
CutFault LoadCut(LoadContext& context, const Spot& spot);
StallFault LoadStall(LoadContext& context, const Spot& spot);
ThrottleFault LoadThrottle(LoadContext& context, const Spot& spot);
// A duration, or an object that says how it is drawn.
std::optional<Latency> LoadLatency(const ObjectReader& reader, const char* name);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_LOAD_FAULT_PARTS_H_

// Who made each sandbox, what became of it, and whether it leaked.
#ifndef OPENSANDBOX_EMULATOR_CORE_LEDGER_H_
#define OPENSANDBOX_EMULATOR_CORE_LEDGER_H_

#include <string>
#include <vector>

#include "emulator/core/journal.h"
#include "emulator/core/sandbox_store.h"

namespace opensandbox::emulator {

struct LeakedSandbox {
  std::string id;
  std::uint64_t number = 0;
  bool expired = false;  // it is gone, but only its own timeout ended it
  Duration age{};        // lived so far
  // "sb-3 leaked: created by POST #7 at 1.2s, answer cut before headers (fault lost-create), never deleted; client
  // closed its connection at 1.4s"
  std::string sentence;
};

struct LedgerSummary {
  std::uint64_t created = 0, deleted = 0, expired = 0, died = 0, live = 0;
};

// Views over store and journal; hold the tenant's lock.
LedgerSummary Summarise(const SandboxStore& store);
// Sandboxes that live at `now` or that only their own timeout ended, in order of creation. The times in the sentences
// count from `start`: a virtual clock's zero, or when the scenario was loaded.
std::vector<LeakedSandbox> FindLeaks(const SandboxStore& store, const Journal& journal, TimePoint now,
                                     TimePoint start = TimePoint{});

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CORE_LEDGER_H_

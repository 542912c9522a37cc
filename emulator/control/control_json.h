// What the control API shows, as JSON text. Times are seconds since the tenant's scenario was loaded.
#ifndef OPENSANDBOX_EMULATOR_CONTROL_CONTROL_JSON_H_
#define OPENSANDBOX_EMULATOR_CONTROL_CONTROL_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/scenario/loader.h"
#include "emulator/scenario/verdict.h"
#include "emulator/service/tenant.h"

namespace opensandbox::emulator {

// Rows whose number is greater than `after`, at most `limit`.
struct Page {
  std::uint64_t after = 0;
  std::uint64_t limit = UINT64_MAX;
};

// The functions below that take a tenant lock it and let its due timers happen first. No API key is ever shown.
std::string TenantJson(Tenant& tenant);
std::string TenantsJson(const std::vector<std::shared_ptr<Tenant>>& tenants);
std::string LedgerJson(Tenant& tenant, Page page);
std::string LeaksJson(Tenant& tenant);
std::string ClockJson(Tenant& tenant);
std::string VerdictJson(const Verdict& verdict);

// JSON Lines, one line for each entry.
struct JournalText {
  std::string lines;
  std::uint64_t total = 0;    // entries ever
  std::uint64_t dropped = 0;  // of them no longer kept
};
JournalText JournalLines(Tenant& tenant, Page page);
std::string JournalLines(const std::vector<JournalEntry>& entries, TimePoint start, Page page);

std::string ErrorJson(const std::string& message);
std::string ProblemsJson(const std::vector<Problem>& problems);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CONTROL_CONTROL_JSON_H_

// The operations of the lifecycle server, one function each. HandleLifecycle has checked path and method.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_HANDLERS_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_HANDLERS_H_

#include <optional>
#include <string>
#include <string_view>

#include "emulator/opensandbox/lifecycle_reply.h"
#include "emulator/opensandbox/lifecycle_routes.h"
#include "emulator/opensandbox/lifecycle_rules.h"
#include "emulator/service/call.h"

namespace opensandbox::emulator {

// What every operation needs.
struct LifecycleCall {
  Call& call;
  const LifecycleMatch& match;
  const LifecycleReplies& replies;
  const LifecycleSettings& settings;

  SandboxStore& store() const { return *call.tenant.store; }
};

ReplyPlan CreateSandbox(const LifecycleCall& context);
ReplyPlan ListSandboxes(const LifecycleCall& context);
ReplyPlan GetSandbox(const LifecycleCall& context);
ReplyPlan DeleteSandbox(const LifecycleCall& context);
ReplyPlan PauseSandbox(const LifecycleCall& context);
ReplyPlan ResumeSandbox(const LifecycleCall& context);
ReplyPlan RenewExpiration(const LifecycleCall& context);
ReplyPlan PatchSandboxMetadata(const LifecycleCall& context);
ReplyPlan GetEndpoint(const LifecycleCall& context);
// What this release answers without having the thing itself: see docs/fidelity.md.
ReplyPlan HandleSnapshots(const LifecycleCall& context);
ReplyPlan HandleDiagnostics(const LifecycleCall& context);
ReplyPlan HandlePools(const LifecycleCall& context);

// The live sandbox that the path names; nullptr if there is none.
Sandbox* FindSandbox(const LifecycleCall& context);
ReplyPlan SandboxNotFound(const LifecycleCall& context);
ReplyPlan Refuse(const LifecycleCall& context, const Refusal& refusal);

// Page and page size of a list.
struct PageQuery {
  WholeNumber page;
  std::int64_t page_size = 20;
};
// Checks `page` and `pageSize`; nullopt if there are errors.
std::optional<PageQuery> ReadPageQuery(const Request& request, ValidationErrors& errors);
// The integer value of a query parameter, its last one; `absent` if it is not there.
std::optional<WholeNumber> ReadIntQuery(const Request& request, std::string_view name, const IntRule& rule,
                                        WholeNumber absent, ValidationErrors& errors);
// {"items":[...],"pagination":{...}} around items that are already cut to the page.
std::string ListBody(const std::string& items, const PageQuery& query, std::size_t total);
// Index of the first item of the page, at most `total`.
std::size_t PageStart(const PageQuery& query, std::size_t total);

// The Sandbox object of GET, PATCH and list.
void AppendSandbox(std::string& out, const Sandbox& sandbox);
// The metadata that clients see now, in order.
StringPairs VisibleMetadata(const Sandbox& sandbox);
// Sets both the timer and what clients see.
void SetExpiryMicros(SandboxStore& store, Sandbox& sandbox, std::int64_t micros, TimePoint now, WallTime wall_now);
// 64 hex digits, always the same for the same sandbox: what docker would call its container.
std::string ContainerId(const Sandbox& sandbox);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_LIFECYCLE_HANDLERS_H_

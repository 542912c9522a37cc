// Snapshots, diagnostics and pools: validated as the real server does, refused in its words for what is not there. What
// is missing stands in docs/fidelity.md.
#include "emulator/opensandbox/lifecycle_handlers.h"
#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

void CheckCapacity(const Json& body, const Loc& loc, ValidationErrors& errors) {
  const Field capacity = RequireField(body, loc, errors, "capacitySpec", "capacity_spec");
  if (capacity.value == nullptr) return;
  const Loc capacity_loc(loc, capacity.spelled);
  if (!CheckModel(*capacity.value, capacity_loc, errors)) return;
  struct Name {
    std::string_view wire, snake;
  };
  for (const Name& name : {Name{"bufferMax", "buffer_max"}, Name{"bufferMin", "buffer_min"},
                           Name{"poolMax", "pool_max"}, Name{"poolMin", "pool_min"}}) {
    const Field field = RequireField(*capacity.value, capacity_loc, errors, name.wire, name.snake);
    if (field.value != nullptr) CheckInt(*field.value, Loc(capacity_loc, field.spelled), errors, {.min = 0});
  }
}

// nullopt: go on.
std::optional<ReplyPlan> CheckPoolBody(const LifecycleCall& context, bool create) {
  RequestBody body = ReadJsonBody(context.call.request, context.replies);
  if (body.refusal.has_value()) return std::move(body.refusal);
  ValidationErrors errors;
  const Loc loc("body");
  if (body.value.is_null()) {
    errors.Add("missing", loc, "Field required", body.value);
  } else if (CheckModel(body.value, loc, errors)) {
    if (create) {
      const Field name = RequireField(body.value, loc, errors, "name");
      if (name.value != nullptr) {
        CheckString(*name.value, Loc(loc, "name"), errors,
                    {.length_max = 253, .pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", .matches = IsDnsLabel});
      }
      const Field pod_template = RequireField(body.value, loc, errors, "template");
      if (pod_template.value != nullptr) CheckDict(*pod_template.value, Loc(loc, "template"), errors);
    }
    CheckCapacity(body.value, loc, errors);
  }
  if (errors.empty()) return std::nullopt;
  return context.replies.Invalid(errors);
}

ReplyPlan CreateSnapshot(const LifecycleCall& context) {
  RequestBody body = ReadJsonBody(context.call.request, context.replies);
  if (body.refusal.has_value()) return *std::move(body.refusal);
  ValidationErrors errors;
  const Loc loc("body");
  if (!body.value.is_null() && CheckModel(body.value, loc, errors)) {
    const Field name = FindField(body.value, "name");
    if (name.given()) CheckString(*name.value, Loc(loc, "name"), errors, {.length_min = 1});
  }
  if (!errors.empty()) return context.replies.Invalid(errors);
  const Sandbox* sandbox = FindSandbox(context);
  if (sandbox == nullptr) return SandboxNotFound(context);
  if (sandbox->state != state::kRunning) {
    return context.replies.Error(409, "SNAPSHOT::INVALID_SOURCE_STATE",
                                 "Snapshot can only be created from a Running sandbox.");
  }
  return context.replies.Error(501, "SNAPSHOT::NOT_IMPLEMENTED", "Snapshot management is not implemented yet.");
}

}  // namespace

ReplyPlan HandleSnapshots(const LifecycleCall& context) {
  if (context.match.path == LifecyclePath::kSandboxSnapshots) return CreateSnapshot(context);
  if (context.match.path == LifecyclePath::kSnapshot) {
    return context.replies.Error(404, "SNAPSHOT::NOT_FOUND", "Snapshot " + context.match.sandbox_id + " not found");
  }
  ValidationErrors errors;
  const std::optional<PageQuery> query = ReadPageQuery(context.call.request, errors);
  if (!query.has_value()) return context.replies.Invalid(errors);
  return context.replies.Answer(200, ListBody("", *query, 0));
}

ReplyPlan HandleDiagnostics(const LifecycleCall& context) {
  const Request& request = context.call.request;
  const LifecyclePath path = context.match.path;
  ValidationErrors errors;
  const auto check = [&request, &errors](std::string_view name, std::int64_t max) {
    ReadIntQuery(request, name, {.min = 1, .max = max}, {"1", 1}, errors);
  };
  if (path == LifecyclePath::kDiagnosticsLogs) check("tail", 10000);
  if (path == LifecyclePath::kDiagnosticsEvents) check("limit", 500);
  if (path == LifecyclePath::kDiagnosticsSummary) {
    check("tail", 10000);
    check("event_limit", 500);
  }
  if (!errors.empty()) return context.replies.Invalid(errors);
  const bool scoped = (path == LifecyclePath::kDiagnosticsLogs || path == LifecyclePath::kDiagnosticsEvents) &&
                      !request.QueryValues("scope").empty();
  if (!scoped && FindSandbox(context) == nullptr) return SandboxNotFound(context);
  return context.replies.Error(501, "DIAGNOSTICS_NOT_IMPLEMENTED",
                               "The stable Diagnostics API is not implemented by this OpenSandbox server.");
}

ReplyPlan HandlePools(const LifecycleCall& context) {
  const std::string& method = context.call.request.method;
  if (method == "POST" || method == "PUT") {
    if (std::optional<ReplyPlan> refusal = CheckPoolBody(context, method == "POST")) return *std::move(refusal);
  }
  return context.replies.Error(501, "KUBERNETES::POOL_NOT_SUPPORTED",
                               "Pool management is only available when runtime.type is 'kubernetes'.");
}

}  // namespace opensandbox::emulator

// The operations on one sandbox: GET, DELETE, pause, resume, renew, metadata PATCH.
#include <algorithm>

#include "emulator/opensandbox/lifecycle_datetime.h"
#include "emulator/opensandbox/lifecycle_handlers.h"
#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

// The state that judges an action: the one in which the request found the sandbox.
const std::string& JudgedState(const LifecycleCall& context, const Sandbox& sandbox) {
  return context.call.stage_left ? context.call.state_before : sandbox.state;
}

// Pause or resume.
ReplyPlan Move(const LifecycleCall& context, Action action) {
  Sandbox* sandbox = FindSandbox(context);
  if (sandbox == nullptr) return SandboxNotFound(context);
  const ActionRow& row = LookUp(JudgedState(context, *sandbox), action);
  switch (row.verdict) {
    case ActionVerdict::kNotRunning:
      return context.replies.Error(409, "DOCKER::SANDBOX_NOT_RUNNING", "Sandbox is not in a running state.");
    case ActionVerdict::kNotPaused:
      return context.replies.Error(409, "DOCKER::SANDBOX_NOT_PAUSED", "Sandbox is not in a paused state.");
    case ActionVerdict::kAlreadyPaused: {
      const std::string id = ContainerId(*sandbox);
      return context.replies.Error(500, "DOCKER::SANDBOX_PAUSE_FAILED",
                                   "Failed to pause sandbox container: 409 Client Error for "
                                   "http+docker://localhost/v1.47/containers/" +
                                       id + "/pause: Conflict (\"Container " + id + " is already paused\")");
    }
    default:
      break;
  }
  if (!context.call.stage_left) {
    context.store().SetState(*sandbox, std::string(row.next_state), "", "", context.call.now);
  }
  return context.replies.Empty(202);
}

void SetEntry(StringPairs& entries, const std::string& key, const std::string& value) {
  const auto same =
      std::find_if(entries.begin(), entries.end(), [&key](const auto& pair) { return pair.first == key; });
  if (same != entries.end()) {
    same->second = value;
  } else {
    entries.emplace_back(key, value);
  }
}

ReplyPlan SandboxAnswer(const LifecycleCall& context, const Sandbox& sandbox) {
  std::string body;
  body.reserve(512);
  AppendSandbox(body, sandbox);
  return context.replies.Answer(200, std::move(body));
}

}  // namespace

Sandbox* FindSandbox(const LifecycleCall& context) { return context.store().Find(context.match.sandbox_id); }

ReplyPlan SandboxNotFound(const LifecycleCall& context) {
  return context.replies.Error(404, "DOCKER::SANDBOX_NOT_FOUND", "Sandbox " + context.match.sandbox_id + " not found.");
}

ReplyPlan Refuse(const LifecycleCall& context, const Refusal& refusal) {
  return context.replies.Error(refusal.status, refusal.code, refusal.message);
}

ReplyPlan GetSandbox(const LifecycleCall& context) {
  Sandbox* sandbox = FindSandbox(context);
  if (sandbox == nullptr) return SandboxNotFound(context);
  ReplyPlan plan = SandboxAnswer(context, *sandbox);
  context.store().CountPoll(*sandbox, context.call.now, context.call.wall_now);
  return plan;
}

ReplyPlan DeleteSandbox(const LifecycleCall& context) {
  Sandbox* sandbox = FindSandbox(context);
  if (sandbox == nullptr) return SandboxNotFound(context);
  context.store().End(*sandbox,
                      {.by = SandboxEnd::By::kDelete, .at = context.call.now, .request = context.call.number});
  return context.replies.Empty(204);
}

ReplyPlan PauseSandbox(const LifecycleCall& context) { return Move(context, Action::kPause); }

ReplyPlan ResumeSandbox(const LifecycleCall& context) { return Move(context, Action::kResume); }

ReplyPlan RenewExpiration(const LifecycleCall& context) {
  RequestBody body = ReadJsonBody(context.call.request, context.replies);
  if (body.refusal.has_value()) return *std::move(body.refusal);
  ValidationErrors errors;
  const Loc loc("body");
  std::optional<std::int64_t> expires;
  if (body.value.is_null()) {
    errors.Add("missing", loc, "Field required", body.value);
  } else if (CheckModel(body.value, loc, errors)) {
    const Field field = RequireField(body.value, loc, errors, "expiresAt", "expires_at");
    if (field.value != nullptr) expires = CheckDatetime(*field.value, Loc(loc, field.spelled), errors);
  }
  if (!expires.has_value()) return context.replies.Invalid(errors);

  Sandbox* sandbox = FindSandbox(context);
  if (sandbox == nullptr) return SandboxNotFound(context);
  if (*expires <= MicrosOf(context.call.wall_now)) {
    return context.replies.Error(400, "DOCKER::INVALID_EXPIRATION", "New expiration time must be in the future.");
  }
  if (!sandbox->expires_shown.has_value()) {
    return context.replies.Error(409, "DOCKER::INVALID_EXPIRATION",
                                 "Sandbox " + sandbox->id + " does not have automatic expiration enabled.");
  }
  SetExpiryMicros(context.store(), *sandbox, *expires, context.call.now, context.call.wall_now);
  return context.replies.Answer(200, "{\"expiresAt\":\"" + FormatMicros(*expires) + "\"}");
}

ReplyPlan PatchSandboxMetadata(const LifecycleCall& context) {
  RequestBody body = ReadJsonBody(context.call.request, context.replies);
  if (body.refusal.has_value()) return *std::move(body.refusal);
  ValidationErrors errors;
  const Loc loc("body");
  std::optional<NullableStringPairs> patch;
  if (body.value.is_null()) {
    errors.Add("missing", loc, "Field required", body.value);
  } else {
    patch = CheckNullableStringMap(body.value, loc, errors);
  }
  if (!patch.has_value()) return context.replies.Invalid(errors);

  Sandbox* sandbox = FindSandbox(context);
  if (sandbox == nullptr) return SandboxNotFound(context);
  for (const auto& [key, value] : *patch) {
    if (key.compare(0, kReservedLabelPrefix.size(), kReservedLabelPrefix) == 0) {
      return context.replies.Error(400, "INVALID_METADATA_LABEL",
                                   "Metadata key '" + key + "' is reserved (opensandbox.io/ prefix).");
    }
  }
  for (const auto& [key, value] : *patch) {
    if (!value.has_value()) continue;  // the key of a deletion is not looked at
    if (auto refusal = CheckLabelSyntax(key, *value)) return Refuse(context, *refusal);
  }
  // Docker's labels can't change, so each PATCH starts from those of the creation; what an earlier PATCH deleted of
  // them is back (wire reference 1.11).
  const StringPairs saved = sandbox->patched_metadata;
  sandbox->metadata_patched = false;
  StringPairs merged = VisibleMetadata(*sandbox);
  for (const auto& [key, value] : saved) SetEntry(merged, key, value);
  for (const auto& [key, value] : *patch) {
    if (value.has_value()) {
      SetEntry(merged, key, *value);
    } else {
      std::erase_if(merged, [&deleted = key](const auto& entry) { return entry.first == deleted; });
    }
  }
  sandbox->patched_metadata = std::move(merged);
  sandbox->metadata_patched = true;
  return SandboxAnswer(context, *sandbox);
}

}  // namespace opensandbox::emulator

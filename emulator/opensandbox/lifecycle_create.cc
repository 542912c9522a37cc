// POST /sandboxes.
#include <algorithm>
#include <cstdint>
#include <map>

#include "emulator/opensandbox/lifecycle_create_request.h"
#include "emulator/opensandbox/lifecycle_datetime.h"
#include "emulator/opensandbox/lifecycle_handlers.h"
#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

constexpr std::string_view kStartedMessage = "Sandbox container started successfully.";

// Looks in the settings, then among what earlier creates made. A volume that goes with its sandbox is gone with it.
std::optional<std::string> DriverOfVolume(const LifecycleCall& context, const std::string& claim) {
  const auto known = context.settings.named_volumes.find(claim);
  if (known != context.settings.named_volumes.end()) return known->second;
  for (const Sandbox* sandbox : context.store().All()) {
    for (const auto& [name, goes_with_it] : sandbox->spec.created_volumes) {
      if (name == claim && !(goes_with_it && sandbox->end.has_value())) return "local";
    }
  }
  return std::nullopt;
}

// The checks behind validation, in the server's order.
std::optional<Refusal> Check(const LifecycleCall& context, CreateRequest& request) {
  if (request.extensions.has_value()) {
    if (auto refusal = CheckExtensions(*request.extensions)) return refusal;
  }
  if (!request.PoolRef().empty()) {
    return Refusal{400, "SANDBOX::UNSUPPORTED_POOL_REF",
                   "poolRef is not supported by the Docker provider. Use Kubernetes BatchSandbox provider instead."};
  }
  if (!PyStrip(request.snapshot_id.value_or("")).empty()) {
    // No snapshot exists, since none can be made here yet.
    return Refusal{404, "SNAPSHOT::NOT_FOUND", "Snapshot " + *request.snapshot_id + " not found"};
  }
  if (request.metadata.has_value()) {
    if (auto refusal = CheckMetadataLabels(*request.metadata)) return refusal;
  }
  if (request.platform.has_value()) {
    if (auto refusal = CheckPlatform(*request.platform)) return refusal;
  }
  if (request.timeout.has_value()) {
    if (auto refusal = CheckTimeout(*request.timeout, MicrosOf(context.call.wall_now), context.settings)) {
      return refusal;
    }
  }
  if (request.secure_access) {
    return Refusal{400, "SANDBOX::INVALID_PARAMETER",
                   "secureAccess is not supported when runtime.type='docker'. Use the Kubernetes runtime to create "
                   "secured sandboxes."};
  }
  if (auto refusal = CheckNetwork(request, context.settings)) return refusal;
  return CheckVolumes(request.volumes, context.settings,
                      [&context](const std::string& claim) { return DriverOfVolume(context, claim); });
}

SandboxSpec MakeSpec(const LifecycleCall& context, CreateRequest request) {
  SandboxSpec spec;
  spec.image = request.image_uri.value_or("");
  spec.entrypoint = request.entrypoint.value_or(std::vector<std::string>{});
  spec.metadata_sent = request.metadata.has_value();
  spec.metadata = std::move(request.metadata).value_or(StringPairs{});
  spec.resource_limits = std::move(request.resource_limits).value_or(StringPairs{});
  spec.extensions = std::move(request.extensions).value_or(StringPairs{});
  if (request.env.has_value()) {
    for (auto& [key, value] : *request.env) {
      if (value.has_value()) spec.env.emplace_back(std::move(key), *std::move(value));
    }
  }
  if (request.network_policy.has_value()) spec.network_policy_json = request.network_policy->ToJson();
  spec.credential_proxy = request.credential_proxy;
  if (request.platform.has_value()) {
    spec.platform_os = request.platform->first;
    spec.platform_arch = request.platform->second;
  }
  for (const VolumeRequest& volume : request.volumes) {
    if (!volume.pvc.has_value() || DriverOfVolume(context, volume.pvc->claim_name).has_value()) continue;
    const bool twice = std::any_of(spec.created_volumes.begin(), spec.created_volumes.end(),
                                   [&volume](const auto& made) { return made.first == volume.pvc->claim_name; });
    if (!twice) {
      spec.created_volumes.emplace_back(volume.pvc->claim_name, volume.pvc->delete_on_sandbox_termination);
    }
  }
  return spec;
}

std::string CreateBody(const Sandbox& sandbox) {
  const std::string created = FormatMicros(MicrosOf(sandbox.created_wall));
  const bool started = sandbox.state == state::kRunning && sandbox.message == DefaultStatusText(sandbox.state).message;
  std::string body = "{\"id\":";
  AppendJsonString(body, sandbox.id);
  body.append(",\"status\":{\"state\":");
  AppendJsonString(body, sandbox.state);
  if (!sandbox.reason.empty()) {
    body.append(",\"reason\":");
    AppendJsonString(body, sandbox.reason);
  }
  if (!sandbox.message.empty()) {
    body.append(",\"message\":");
    AppendJsonString(body, started ? kStartedMessage : std::string_view(sandbox.message));
  }
  body.append(",\"lastTransitionAt\":\"").append(created).append("\"}");
  if (sandbox.spec.metadata_sent) {
    Json metadata = Json::Object();
    for (const auto& [key, value] : sandbox.spec.metadata) metadata.members().emplace_back(key, Json::String(value));
    body.append(",\"metadata\":");
    AppendJson(body, metadata);
  }
  if (!sandbox.spec.platform_os.empty()) {
    body.append(",\"platform\":{\"os\":");
    AppendJsonString(body, sandbox.spec.platform_os);
    body.append(",\"arch\":");
    AppendJsonString(body, sandbox.spec.platform_arch);
    body.push_back('}');
  }
  if (sandbox.expires_shown.has_value()) {
    body.append(",\"expiresAt\":\"").append(FormatMicros(*sandbox.expires_shown)).push_back('"');
  }
  body.append(",\"createdAt\":\"").append(created).append("\",\"entrypoint\":");
  Json entrypoint = Json::Array();
  for (const std::string& word : sandbox.spec.entrypoint) entrypoint.items().push_back(Json::String(word));
  AppendJson(body, entrypoint);
  body.push_back('}');
  return body;
}

// A lone surrogate in what the answers would show can't be encoded; the real server dies of it.
bool CanBeShown(const CreateRequest& request) {
  if (!IsUtf8(request.image_uri.value_or(""))) return false;
  const std::vector<std::string> words = request.entrypoint.value_or(std::vector<std::string>{});
  return std::all_of(words.begin(), words.end(), [](const std::string& word) { return IsUtf8(word); });
}

}  // namespace

ReplyPlan CreateSandbox(const LifecycleCall& context) {
  Call& call = context.call;
  RequestBody body = ReadJsonBody(call.request, context.replies);
  if (body.refusal.has_value()) return *std::move(body.refusal);
  ValidationErrors errors;
  const Loc loc("body");
  if (body.value.is_null()) {
    errors.Add("missing", loc, "Field required", body.value);
    return context.replies.Invalid(errors);
  }
  std::optional<CreateRequest> request = CheckCreateRequest(body.value, loc, errors);
  if (!request.has_value()) return context.replies.Invalid(errors);
  if (auto refusal = Check(context, *request)) return Refuse(context, *refusal);
  if (!CanBeShown(*request)) return context.replies.Crash();

  const std::optional<WholeNumber> timeout = request->timeout;
  SandboxSpec spec = MakeSpec(context, *std::move(request));
  const std::map<std::string, std::string> metadata(spec.metadata.begin(), spec.metadata.end());
  // A timer of a century is as good as the longest timeout that the wire allows; see SetExpiryMicros.
  static constexpr std::int64_t kTimeoutSecondsMax = std::int64_t{100} * 366 * 86400;
  if (timeout.has_value()) {
    spec.timeout = std::chrono::seconds(std::min(timeout->value.value_or(kTimeoutSecondsMax), kTimeoutSecondsMax));
  }
  SandboxBehaviour behaviour = call.tenant.engine->PlanSandbox(spec.image, metadata);
  if (call.rules_out != nullptr && !behaviour.rule_id.empty()) call.rules_out->push_back(behaviour.rule_id);
  Sandbox* sandbox =
      context.store().Create(std::move(spec), std::move(behaviour), call.number, call.now, call.wall_now);
  if (sandbox == nullptr) {
    return context.replies.Error(
        500, "DOCKER::SANDBOX_START_FAILED",
        "Failed to create or start container: the emulator's limit of live sandboxes is reached");
  }
  if (timeout.has_value()) {
    sandbox->expires_shown = MicrosOf(call.wall_now) + timeout->value.value_or(0) * 1000000;
  }
  if (call.sandbox_id_out != nullptr) *call.sandbox_id_out = sandbox->id;
  return context.replies.Answer(202, CreateBody(*sandbox));
}

}  // namespace opensandbox::emulator

#include "emulator/opensandbox/execd_code.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "emulator/opensandbox/execd_event.h"
#include "emulator/opensandbox/execd_json.h"
#include "emulator/opensandbox/execd_stream.h"
#include "opensandbox/base/rfc3339.h"

namespace opensandbox::emulator {
namespace {

constexpr char kInvalidRequestBody[] = "INVALID_REQUEST_BODY";
constexpr char kRuntimeError[] = "RUNTIME_ERROR";
constexpr char kMissingQuery[] = "MISSING_QUERY";
constexpr char kContextNotFound[] = "CONTEXT_NOT_FOUND";
constexpr char kParsePrefix[] = "error parsing request, MAYBE invalid body format. ";
constexpr char kRunPrefix[] = "error running codes ";

// The languages that run in a kernel, in the code-interpreter image. Case counts.
constexpr std::array<std::string_view, 6> kKernelLanguages = {"bash",       "python",     "java",
                                                              "javascript", "typescript", "go"};
constexpr std::string_view kSql = "sql";
constexpr std::string_view kCommand = "command";
constexpr std::string_view kBackgroundCommand = "background-command";

bool IsKernelLanguage(std::string_view language) {
  return std::find(kKernelLanguages.begin(), kKernelLanguages.end(), language) != kKernelLanguages.end();
}

struct RunCodeRequest {
  std::string code, context_id, language, cwd;
};

std::string Decode(const std::string& body, RunCodeRequest& decoded) {
  const std::vector<GoField> context = {
      {.name = "id", .path = "CodeContext.context.id", .type = "string", .text = &decoded.context_id, .fields = {}},
      {.name = "language",
       .path = "CodeContext.context.CodeContextRequest.language",
       .type = "string",
       .text = &decoded.language,
       .fields = {}},
      {.name = "cwd",
       .path = "CodeContext.context.CodeContextRequest.cwd",
       .type = "string",
       .text = &decoded.cwd,
       .fields = {}},
  };
  return DecodeGoStruct(
      body, "model.RunCodeRequest",
      {{.name = "context",
        .path = "RunCodeRequest.context",
        .type = "model.CodeContext",
        .text = nullptr,
        .fields = context},
       {.name = "code", .path = "RunCodeRequest.code", .type = "string", .text = &decoded.code, .fields = {}}});
}

ExecdState& StateOf(const PortRequest& request) { return request.call.tenant.execd[request.sandbox.id]; }

// The run that the daemon still knows under that id; null if there is none, or none any more.
ExecdRun* FindRun(const PortRequest& request, ExecdState& state, const std::string& id, bool command) {
  const auto found = state.running.find(id);
  if (found == state.running.end()) return nullptr;
  // With a listener it is over when its stream says so; without one, when its script is.
  if (found->second.stream.expired() && found->second.ends <= request.call.now) {
    EndRun(state, id, command);
    return nullptr;
  }
  return &found->second;
}

void InterruptRun(const PortRequest& request, ExecdState& state, const std::string& id, bool command) {
  const ExecdRun* run = FindRun(request, state, id, command);
  if (run == nullptr) return;
  if (const auto stream = run->stream.lock()) {
    stream->Interrupt(request.call.now);
  } else {
    EndRun(state, id, command);
  }
}

ReplyPlan StreamReply(const PortRequest& request) {
  ReplyPlan plan;
  plan.headers = {{"Cache-Control", "no-cache"},
                  {"Connection", "keep-alive"},
                  {"Content-Type", "text/event-stream"},
                  {"X-Accel-Buffering", "no"},
                  {"Date", FormatHttpDate(request.call.wall_now)},
                  {"Transfer-Encoding", "chunked"}};
  plan.chunked = true;
  return plan;
}

// 200, `init` and the appended object: what a run in a busy context gets.
class BusyStream : public BodySource {
 public:
  explicit BusyStream(std::string context_id) : context_id_(std::move(context_id)) {}
  BodyStep Next(TimePoint, WallTime wall_now) override {
    switch (step_++) {
      case 0:
        return BodyStep::Bytes(ExecdEvent{.type = "init", .text = context_id_, .at = wall_now}.Line());
      case 1: {
        BodyStep step = BodyStep::Bytes(BareErrorObject(kRuntimeError, "error running codes session is busy"));
        step.begins_event = step.ends_event = false;
        return step;
      }
      default:
        return BodyStep::End();
    }
  }

 private:
  const std::string context_id_;
  int step_ = 0;
};

ExecutionScript PlanScript(const PortRequest& request, const RunCodeRequest& body, const std::string& context_id) {
  ExecutionCall call{.operation = operation::kRunCode,
                     .sandbox_id = request.sandbox.id,
                     .code = body.code,
                     .language = body.language,
                     .context_id = context_id,
                     .sandbox_metadata = {request.sandbox.spec.metadata.begin(), request.sandbox.spec.metadata.end()},
                     .sandbox_image = request.sandbox.spec.image};
  ExecutionScript script = request.call.tenant.engine->PlanExecution(call, request.call.near_miss_out);
  if (!script.rule_id.empty() && request.call.rules_out != nullptr) {
    request.call.rules_out->push_back(script.rule_id);
  }
  return script;
}

ReplyPlan StartRun(const PortRequest& request, std::string id, RunningExecution::Kind kind, std::int64_t count,
                   ExecutionScript script) {
  auto run = std::make_shared<RunningExecution>(RunningExecution::Options{.tenant = &request.call.tenant,
                                                                          .sandbox_id = request.sandbox.id,
                                                                          .execution_id = id,
                                                                          .kind = kind,
                                                                          .execution_count = count,
                                                                          .script = std::move(script),
                                                                          .start = request.call.now});
  StateOf(request).running[std::move(id)] = {.stream = run, .ends = run->ends_at()};
  ReplyPlan plan = StreamReply(request);
  plan.source = MakeExecutionStream(std::move(run));
  return plan;
}

// The context that a language without an id runs in; made on first use.
CodeContext& DefaultContext(const PortRequest& request, ExecdState& state, const std::string& language) {
  for (auto& [id, context] : state.contexts) {
    if (context.is_default && context.language == language) return context;
  }
  const std::string id = request.call.tenant.store->NewUuid();
  return state.contexts[id] =
             CodeContext{.id = id, .language = language, .cwd = "", .is_default = true, .execution_count = 0};
}

ReplyPlan RunInKernel(const PortRequest& request, const RunCodeRequest& body) {
  ExecdState& state = StateOf(request);
  CodeContext* context = nullptr;
  if (body.context_id.empty()) {
    context = &DefaultContext(request, state, body.language);
  } else if (const auto found = state.contexts.find(body.context_id); found != state.contexts.end()) {
    context = &found->second;  // its own language counts, whatever the request says
  } else {
    return ExecdError(request, 500, kRuntimeError, std::string(kRunPrefix) + "context not found");
  }
  if (FindRun(request, state, context->id, false) != nullptr) {
    ReplyPlan plan = StreamReply(request);
    plan.source = std::make_unique<BusyStream>(context->id);
    return plan;
  }
  RunCodeRequest effective = body;
  effective.language = context->language;
  ExecutionScript script = PlanScript(request, effective, context->id);
  // Cells of nothing but blanks do not count.
  if (body.code.find_first_not_of(" \t\r\n\f\v") != std::string::npos) ++context->execution_count;
  return StartRun(request, context->id, RunningExecution::Kind::kKernel, context->execution_count, std::move(script));
}

// The command goes on behind a stream that ends at once.
ReplyPlan RunInBackground(const PortRequest& request, const RunCodeRequest& body) {
  const std::string id = request.call.tenant.store->NewHex32();
  const ScriptedRun command(PlanScript(request, body, ""), request.call.now);
  ReplyPlan plan = StartRun(request, id, RunningExecution::Kind::kCommand, 0, ExecutionScript{});
  StateOf(request).running[id].ends = command.ends_at();
  return plan;
}

std::string ContextJson(const CodeContext& context, bool with_cwd) {
  std::string json = "{\"id\":";
  AppendGoString(json, context.id);
  json += ",\"language\":";
  AppendGoString(json, context.language);
  if (with_cwd && !context.cwd.empty()) {
    json += ",\"cwd\":";
    AppendGoString(json, context.cwd);
  }
  json.push_back('}');
  return json;
}

ReplyPlan ContextMissing(const PortRequest& request, const std::string& id) {
  return ExecdError(request, 404, kContextNotFound, "context " + id + " not found");
}

ReplyPlan EmptySuccess(const PortRequest& request) { return GoReply(request, 200, {}, ""); }

// Takes the context away; a run in it ends as if interrupted.
void RemoveContext(const PortRequest& request, ExecdState& state, const std::string& id) {
  InterruptRun(request, state, id, false);
  state.contexts.erase(id);
}

}  // namespace

ReplyPlan RunCode(const PortRequest& request) {
  RunCodeRequest body;
  if (const std::string error = Decode(request.call.request.body, body); !error.empty()) {
    return ExecdError(request, 400, kInvalidRequestBody, kParsePrefix + error);
  }
  if (body.code.empty()) {
    return ExecdError(request, 400, kInvalidRequestBody,
                      "invalid request, validation error Key: 'RunCodeRequest.Code' Error:Field validation for 'Code' "
                      "failed on the 'required' tag");
  }
  if (IsKernelLanguage(body.language)) return RunInKernel(request, body);
  if (body.language == kBackgroundCommand) return RunInBackground(request, body);
  if (body.language.empty() || body.language == kCommand) {
    // Without a language the id is never looked at.
    ExecutionScript script = PlanScript(request, body, "");
    return StartRun(request, request.call.tenant.store->NewHex32(), RunningExecution::Kind::kCommand, 0,
                    std::move(script));
  }
  if (body.language == kSql) {
    ExecutionScript script = PlanScript(request, body, "");
    return StartRun(request, request.call.tenant.store->NewUuid(), RunningExecution::Kind::kSql, 0, std::move(script));
  }
  return ExecdError(request, 500, kRuntimeError, std::string(kRunPrefix) + "unknown language: " + body.language);
}

ReplyPlan InterruptCode(const PortRequest& request) {
  const std::string id = request.Query("id");
  if (id.empty()) return ExecdError(request, 400, kMissingQuery, "missing query parameter 'id'");
  ExecdState& state = StateOf(request);
  if (state.contexts.contains(id)) {
    InterruptRun(request, state, id, false);  // an idle kernel takes it too
    return EmptySuccess(request);
  }
  static constexpr char kPrefix[] = "error interruptting code context. ";
  if (FindRun(request, state, id, true) != nullptr) {
    InterruptRun(request, state, id, true);
    return EmptySuccess(request);
  }
  const auto& ended = state.ended_commands;
  if (std::find(ended.begin(), ended.end(), id) != ended.end()) {
    return ExecdError(request, 500, kRuntimeError, kPrefix + ("command session " + id) + " is not running");
  }
  return ExecdError(request, 500, kRuntimeError, std::string(kPrefix) + "no such session");
}

ReplyPlan CreateContext(const PortRequest& request) {
  CodeContext context;
  const std::string error = DecodeGoStruct(
      request.call.request.body, "model.CodeContextRequest",
      {{.name = "language",
        .path = "CodeContextRequest.language",
        .type = "string",
        .text = &context.language,
        .fields = {}},
       {.name = "cwd", .path = "CodeContextRequest.cwd", .type = "string", .text = &context.cwd, .fields = {}}});
  if (!error.empty()) return ExecdError(request, 400, kInvalidRequestBody, kParsePrefix + error);
  if (!IsKernelLanguage(context.language)) {
    // The daemon looks for a kernel again and again, with growing pauses; no client waits that long.
    ReplyPlan plan;
    plan.cut = Cut{.at = Cut::At::kBeforeHead, .bytes = 0, .ending = Ending::kSilence};
    return plan;
  }
  context.id = request.call.tenant.store->NewUuid();
  std::string json = ContextJson(context, true);
  StateOf(request).contexts.emplace(context.id, std::move(context));
  return ExecdJson(request, 200, std::move(json));
}

ReplyPlan ListContexts(const PortRequest& request) {
  const std::string language = request.Query("language");
  if (language == kCommand || language == kBackgroundCommand || language == kSql) {
    return ExecdError(request, 500, kRuntimeError, "unsupported language context operation: " + language);
  }
  std::string json = "[";
  for (const auto& [id, context] : StateOf(request).contexts) {
    if (!language.empty() && context.language != language) continue;
    if (json.size() > 1) json.push_back(',');
    json += ContextJson(context, false);
  }
  json.push_back(']');
  return ExecdJson(request, 200, std::move(json));
}

ReplyPlan DeleteContexts(const PortRequest& request) {
  const std::string language = request.Query("language");
  if (language.empty()) return ExecdError(request, 400, kMissingQuery, "missing query parameter 'language'");
  ExecdState& state = StateOf(request);
  std::vector<std::string> ids;
  for (const auto& [id, context] : state.contexts) {
    if (context.language == language) ids.push_back(id);
  }
  for (const std::string& id : ids) RemoveContext(request, state, id);
  return EmptySuccess(request);
}

ReplyPlan GetContext(const PortRequest& request, const std::string& id) {
  const ExecdState& state = StateOf(request);
  const auto found = state.contexts.find(id);
  if (found == state.contexts.end()) return ContextMissing(request, id);
  return ExecdJson(request, 200, ContextJson(found->second, false));
}

ReplyPlan DeleteContext(const PortRequest& request, const std::string& id) {
  ExecdState& state = StateOf(request);
  if (!state.contexts.contains(id)) return ContextMissing(request, id);
  RemoveContext(request, state, id);
  return EmptySuccess(request);
}

}  // namespace opensandbox::emulator

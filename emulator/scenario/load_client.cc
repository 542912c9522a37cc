#include "emulator/scenario/load_parts.h"

namespace opensandbox::emulator {
namespace {

enum class ActionKind { kNone, kCreate, kRun, kDelete, kWait, kEphemeral };

CreateStep LoadCreate(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "createStep");
  CreateStep step;
  step.image = reader.Text("image");
  step.timeout = reader.Time("timeout");
  if (step.timeout && *step.timeout % std::chrono::seconds(1) != Duration::zero()) {
    reader.Complain("timeout", "found a part of a second, expected whole seconds");
  }
  step.ready_timeout = reader.Time("readyTimeout");
  for (auto& [name, value] : reader.TextMap("metadata")) step.metadata.emplace(name, value);
  return step;
}

RunStep LoadRun(LoadContext& context, const Spot& spot) {
  const ObjectReader reader(context, spot, "runStep");
  RunStep step;
  step.code = reader.Text("code", true).value_or("");
  step.language = reader.Text("language").value_or("python");
  step.deadline = reader.Time("deadline", false);
  step.idle_timeout = reader.Time("idleTimeout", false);
  step.output_bytes_max = reader.Bytes("outputBytesMax", 1);
  return step;
}

StepExpectation LoadStepExpectation(const ObjectReader& step, ActionKind kind) {
  StepExpectation expect;
  const std::optional<Spot> spot = step.Find("expect");
  if (!spot) return expect;
  const ObjectReader reader(step.context(), *spot, "stepExpect");
  expect.error = reader.Word("error");
  expect.message = reader.Pattern("message");
  expect.timeout_clock = reader.Word("timeoutClock");
  expect.outcome = reader.Word("outcome");
  expect.cleanup = reader.Word("cleanup");
  expect.state = reader.Text("state");
  expect.reason = reader.Text("reason", true);
  expect.state_message = reader.Text("stateMessage", true);
  expect.http_status = reader.SmallCount("httpStatus", 200, 599);
  expect.attempts = reader.SmallCount("attempts", 1);
  expect.names_sandbox = reader.Flag("namesSandbox").value_or(false);
  expect.stdout_text = reader.Pattern("stdout");
  expect.stderr_text = reader.Pattern("stderr");
  expect.stdout_bytes = reader.Bytes("stdoutBytes");
  expect.execution_error = reader.Text("executionError");
  expect.truncated = reader.Flag("truncated");
  expect.deleted = reader.Flag("deleted");
  expect.within = reader.Time("within");
  expect.at_least = reader.Time("atLeast");
  const auto needs = [&](std::initializer_list<const char*> names, bool fits, const char* what) {
    for (const char* name : names) {
      if (reader.Has(name) && !fits) reader.Complain(name, "found \"" + std::string(name) + "\" " + what);
    }
  };
  needs({"message", "timeoutClock", "outcome", "cleanup", "state", "reason", "stateMessage", "httpStatus", "attempts",
         "namesSandbox"},
        reader.Has("error"), "without \"error\", expected the kind of error that has it");
  needs({"timeoutClock"}, !expect.error || *expect.error == "timeout", "of an error that is no timeout");
  if (kind == ActionKind::kNone) return expect;
  needs({"stdout", "stderr", "stdoutBytes", "executionError", "truncated"},
        kind == ActionKind::kRun || kind == ActionKind::kEphemeral, "at a step that runs no code");
  needs({"deleted"}, kind == ActionKind::kDelete, "at a step that is no delete");
  needs({"deleted"}, kind != ActionKind::kDelete || !reader.Has("error"), "beside \"error\", expected one of them");
  if (expect.within && expect.at_least && *expect.within < *expect.at_least) {
    reader.Complain("within", "found \"within\" shorter than \"atLeast\", expected it longer");
  }
  return expect;
}

ActionKind LoadAction(const ObjectReader& reader, ClientStep* step) {
  static constexpr struct {
    const char* name;
    ActionKind kind;
  } kActions[] = {{"create", ActionKind::kCreate},
                  {"run", ActionKind::kRun},
                  {"delete", ActionKind::kDelete},
                  {"wait", ActionKind::kWait},
                  {"ephemeral", ActionKind::kEphemeral}};
  std::vector<std::string> names;
  for (const auto& action : kActions) names.emplace_back(action.name);
  const std::string name = reader.FirstOf(names);
  if (name.empty()) {
    if (reader.is_object()) {
      reader.ComplainHere("found a step that does nothing, expected create, run, delete, wait or ephemeral");
    }
    return ActionKind::kNone;
  }
  reader.AtMostOne(names);
  LoadContext& context = reader.context();
  const Spot spot = *reader.Find(name);
  ActionKind kind = ActionKind::kNone;
  for (const auto& action : kActions) {
    if (action.name == name) kind = action.kind;
  }
  switch (kind) {
    case ActionKind::kCreate:
      step->action = LoadCreate(context, spot);
      break;
    case ActionKind::kRun:
      step->action = LoadRun(context, spot);
      break;
    case ActionKind::kDelete: {
      const ObjectReader inner(context, spot, "deleteStep");
      step->action = DeleteStep{inner.Text("id")};
      break;
    }
    case ActionKind::kWait:
      step->action = WaitStep{reader.Time("wait", false).value_or(Duration::zero())};
      break;
    case ActionKind::kEphemeral: {
      const ObjectReader inner(context, spot, "ephemeralStep");
      EphemeralStep ephemeral;
      if (const auto create = inner.Find("create")) ephemeral.create = LoadCreate(context, *create);
      if (const auto run = inner.Find("run")) ephemeral.run = LoadRun(context, *run);
      step->action = ephemeral;
      break;
    }
    case ActionKind::kNone:
      break;
  }
  return kind;
}

}  // namespace

ClientSettings LoadClientSettings(const ObjectReader& scenario) {
  ClientSettings settings;
  const std::optional<Spot> spot = scenario.Find("clientSettings");
  if (!spot) return settings;
  const ObjectReader reader(scenario.context(), *spot, "clientSettings");
  settings.provider = reader.Word("provider").value_or(settings.provider);
  settings.lost_create = reader.Word("lostCreate").value_or(settings.lost_create);
  settings.retry_attempts_max = reader.SmallCount("retryAttemptsMax", 1, 1000);
  return settings;
}

std::vector<ClientStep> LoadClient(const ObjectReader& scenario) {
  std::vector<ClientStep> steps;
  bool has_sandbox = false;
  for (const Spot& item : scenario.Items("client")) {
    const ObjectReader reader(scenario.context(), item, "step");
    ClientStep step;
    const ActionKind kind = LoadAction(reader, &step);
    step.cancel_after = reader.Time("cancelAfter");
    step.expect = LoadStepExpectation(reader, kind);
    const bool needs_sandbox =
        kind == ActionKind::kRun || (kind == ActionKind::kDelete && reader.Find("delete")->node->Find("id") == nullptr);
    if (needs_sandbox && !has_sandbox) {
      reader.ComplainHere("found a step that needs a sandbox, expected a create that succeeds before it");
    }
    if (kind == ActionKind::kCreate && !step.expect.error) has_sandbox = true;
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace opensandbox::emulator

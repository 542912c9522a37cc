// Compares what a client step came to with what the scenario expects.
#ifndef OPENSANDBOX_EMULATOR_RUNNER_STEP_CHECK_H_
#define OPENSANDBOX_EMULATOR_RUNNER_STEP_CHECK_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/scenario/scenario.h"
#include "opensandbox/base/error.h"
#include "opensandbox/providers/code_execution_result.h"

namespace opensandbox::emulator {

// What a step came to: an error, or success with what the action gives.
struct StepOutcome {
  std::optional<Error> error;
  std::optional<std::string> sandbox_id;         // create
  std::optional<CodeExecutionResult> execution;  // run, ephemeral
  std::optional<bool> deleted;                   // delete
  Duration took{0};                              // on the scenario's clock
  bool error_names_sandbox = false;              // error->sandbox_id is in the emulator's ledger
};

// The words of scenario files: the enumerators without the k, in camelCase ("outputLimit", "runDeadline").
std::string_view Word(ErrorKind kind);
std::string_view Word(TimeoutClock clock);
std::string_view Word(Outcome outcome);
std::string_view Word(Cleanup cleanup);

// "create", "run", "delete", "wait", "ephemeral".
std::string_view ActionName(const ClientStep& step);

// One sentence per mismatch, each beginning "step N (ACTION): "; `index` counts from 0, N from 1.
std::vector<std::string> CheckStep(std::size_t index, const ClientStep& step, const StepOutcome& outcome);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_RUNNER_STEP_CHECK_H_

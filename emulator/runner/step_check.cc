#include "emulator/runner/step_check.h"

#include <cstdio>

#include "emulator/scenario/engine.h"
#include "opensandbox/base/units.h"

namespace opensandbox::emulator {
namespace {

constexpr std::size_t kQuotedBytesMax = 120;

// In double quotes on one line, cut to a readable length.
std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text.substr(0, kQuotedBytesMax)) {
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '"') {
      quoted += "\\\"";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  if (text.size() > kQuotedBytesMax) quoted += " and " + std::to_string(text.size() - kQuotedBytesMax) + " bytes more";
  return quoted;
}

std::string ErrorText(const Error& error) {
  std::string text = "error " + std::string(Word(error.kind));
  if (error.timeout_clock != TimeoutClock::kNone) text += " (" + std::string(Word(error.timeout_clock)) + ")";
  if (error.http_status != 0) text += " with status " + std::to_string(error.http_status);
  return text + ": " + Quote(error.message);
}

std::string SuccessText(const StepOutcome& outcome) {
  if (outcome.execution) {
    std::string text = "success with " + std::to_string(outcome.execution->stdout_text.size()) + " bytes of stdout";
    if (outcome.execution->error) text += " and exception " + Quote(outcome.execution->error->name);
    return text;
  }
  if (outcome.deleted) return std::string("success (deleted: ") + (*outcome.deleted ? "true)" : "false)");
  if (outcome.sandbox_id) return "success (sandbox " + *outcome.sandbox_id + ")";
  return "success";
}

class Checker {
 public:
  Checker(std::size_t index, const ClientStep& step, const StepOutcome& outcome)
      : prefix_("step " + std::to_string(index + 1) + " (" + std::string(ActionName(step)) + "): "),
        expect_(step.expect),
        outcome_(outcome) {}

  std::vector<std::string> Check() {
    // One sentence about the wrong ending says enough: details of an error that is another one would only add noise.
    if (CheckEnding()) CheckErrorDetails();
    CheckOutput();
    CheckTimes();
    return std::move(sentences_);
  }

 private:
  void Say(const std::string& sentence) { sentences_.push_back(prefix_ + sentence); }

  // True if the step ended as expected and has an error whose details can be looked at.
  bool CheckEnding() {
    if (!outcome_.error) {
      if (expect_.error) {
        Say("expected error " + *expect_.error + ", got " + SuccessText(outcome_));
      } else if (expect_.deleted && outcome_.deleted != expect_.deleted) {
        Say(std::string("expected deleted: ") + (*expect_.deleted ? "true" : "false") + ", got " +
            SuccessText(outcome_));
      } else if (ExpectsErrorDetails()) {
        Say("expected details of an error, got " + SuccessText(outcome_));
      }
      return false;
    }
    if (!expect_.error) {
      Say("expected success, got " + ErrorText(*outcome_.error));
      return false;
    }
    if (*expect_.error != Word(outcome_.error->kind)) {
      Say("expected error " + *expect_.error + ", got " + ErrorText(*outcome_.error));
      return false;
    }
    if (expect_.deleted) Say("expected a delete that answers, got " + ErrorText(*outcome_.error));
    return true;
  }

  bool ExpectsErrorDetails() const {
    return expect_.message || expect_.timeout_clock || expect_.outcome || expect_.cleanup || expect_.state ||
           expect_.reason || expect_.state_message || expect_.http_status || expect_.attempts || expect_.names_sandbox;
  }

  void CheckErrorDetails() {
    const Error& error = *outcome_.error;
    if (expect_.message && !Matches(*expect_.message, error.message)) {
      Say("expected a message that matches " + Quote(expect_.message->text) + ", got " + Quote(error.message));
    }
    CheckWord("timeout clock", expect_.timeout_clock, Word(error.timeout_clock));
    CheckWord("outcome", expect_.outcome, Word(error.outcome));
    CheckWord("cleanup", expect_.cleanup, Word(error.cleanup));
    CheckText("state", expect_.state, error.state);
    CheckText("state reason", expect_.reason, error.state_reason);
    CheckText("state message", expect_.state_message, error.state_message);
    CheckNumber("HTTP status", expect_.http_status, error.http_status);
    CheckNumber("attempts", expect_.attempts, error.attempts);
    if (expect_.names_sandbox && !outcome_.error_names_sandbox) {
      Say("expected the error to name a sandbox of the ledger, got " +
          (error.sandbox_id.empty() ? std::string("none") : Quote(error.sandbox_id)) + " in " + ErrorText(error));
    }
  }

  // The result's output; of a failed run what it had received before.
  const CodeExecutionResult* Output() const {
    if (outcome_.execution) return &*outcome_.execution;
    if (outcome_.error && outcome_.error->partial_result) return outcome_.error->partial_result.get();
    return nullptr;
  }

  void CheckOutput() {
    if (!expect_.stdout_text && !expect_.stderr_text && !expect_.stdout_bytes && !expect_.execution_error &&
        !expect_.truncated) {
      return;
    }
    const CodeExecutionResult* output = Output();
    if (output == nullptr) {
      Say("expected output, got none" + (outcome_.error ? " but " + ErrorText(*outcome_.error) : std::string()));
      return;
    }
    CheckPattern("stdout", expect_.stdout_text, output->stdout_text);
    CheckPattern("stderr", expect_.stderr_text, output->stderr_text);
    CheckNumber("bytes of stdout", expect_.stdout_bytes, static_cast<std::uint64_t>(output->stdout_text.size()));
    if (expect_.execution_error) {
      const std::string got = output->error ? Quote(output->error->name) : "none";
      if (!output->error || output->error->name != *expect_.execution_error) {
        Say("expected exception " + Quote(*expect_.execution_error) + ", got " + got);
      }
    }
    if (expect_.truncated && *expect_.truncated != output->truncated) {
      Say(*expect_.truncated ? "expected truncated output, got it whole" : "expected whole output, got it truncated");
    }
  }

  void CheckTimes() {
    if (expect_.within && outcome_.took > *expect_.within) {
      Say("expected to take at most " + FormatDuration(*expect_.within) + ", took " + FormatDuration(outcome_.took));
    }
    if (expect_.at_least && outcome_.took < *expect_.at_least) {
      Say("expected to take at least " + FormatDuration(*expect_.at_least) + ", took " + FormatDuration(outcome_.took));
    }
  }

  void CheckWord(const std::string& what, const std::optional<std::string>& expected, std::string_view got) {
    if (expected && *expected != got) Say("expected " + what + " " + *expected + ", got " + std::string(got));
  }
  void CheckText(const std::string& what, const std::optional<std::string>& expected, const std::string& got) {
    if (expected && *expected != got) Say("expected " + what + " " + Quote(*expected) + ", got " + Quote(got));
  }
  void CheckPattern(const std::string& what, const std::optional<TextPattern>& expected, const std::string& got) {
    if (!expected || Matches(*expected, got)) return;
    Say("expected " + what + " that matches " + Quote(expected->text) + ", got " + Quote(got));
  }
  template <typename T>
  void CheckNumber(const std::string& what, const std::optional<T>& expected, T got) {
    if (expected && *expected != got) {
      Say("expected " + std::to_string(*expected) + " as " + what + ", got " + std::to_string(got));
    }
  }

  const std::string prefix_;
  const StepExpectation& expect_;
  const StepOutcome& outcome_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::string_view Word(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return "invalidArgument";
    case ErrorKind::kTransport:
      return "transport";
    case ErrorKind::kTimeout:
      return "timeout";
    case ErrorKind::kCancelled:
      return "cancelled";
    case ErrorKind::kApi:
      return "api";
    case ErrorKind::kProtocol:
      return "protocol";
    case ErrorKind::kTerminalState:
      return "terminalState";
    case ErrorKind::kOutputLimit:
      return "outputLimit";
    case ErrorKind::kStreamTruncated:
      return "streamTruncated";
    case ErrorKind::kOutcomeUnknown:
      return "outcomeUnknown";
    case ErrorKind::kSandboxGone:
      return "sandboxGone";
    case ErrorKind::kNotImplemented:
      return "notImplemented";
  }
  return "unknown";
}

std::string_view Word(TimeoutClock clock) {
  switch (clock) {
    case TimeoutClock::kNone:
      return "none";
    case TimeoutClock::kConnect:
      return "connect";
    case TimeoutClock::kRequest:
      return "request";
    case TimeoutClock::kReady:
      return "ready";
    case TimeoutClock::kRunDeadline:
      return "runDeadline";
    case TimeoutClock::kIdle:
      return "idle";
  }
  return "unknown";
}

std::string_view Word(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDidNotHappen:
      return "didNotHappen";
    case Outcome::kHappened:
      return "happened";
    case Outcome::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view Word(Cleanup cleanup) {
  switch (cleanup) {
    case Cleanup::kNotNeeded:
      return "notNeeded";
    case Cleanup::kDeleted:
      return "deleted";
    case Cleanup::kFailed:
      return "failed";
  }
  return "unknown";
}

std::string_view ActionName(const ClientStep& step) {
  struct Name {
    std::string_view operator()(const CreateStep&) const { return "create"; }
    std::string_view operator()(const RunStep&) const { return "run"; }
    std::string_view operator()(const DeleteStep&) const { return "delete"; }
    std::string_view operator()(const WaitStep&) const { return "wait"; }
    std::string_view operator()(const EphemeralStep&) const { return "ephemeral"; }
  };
  return std::visit(Name{}, step.action);
}

std::vector<std::string> CheckStep(std::size_t index, const ClientStep& step, const StepOutcome& outcome) {
  return Checker(index, step, outcome).Check();
}

}  // namespace opensandbox::emulator

// What went wrong, in a form that a program can decide on.
#ifndef OPENSANDBOX_BASE_ERROR_H_
#define OPENSANDBOX_BASE_ERROR_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "opensandbox/base/time.h"

namespace opensandbox {

struct CodeExecutionResult;

// The coarse reason. Decisions hang on the kind; `Error::code` is the provider's own word.
enum class ErrorKind {
  kInvalidArgument,  // the call can't be made as asked; nothing was sent
  kTransport,        // connection refused, reset, broken, TLS failure
  kTimeout,          // one of the clocks in TimeoutClock ran out
  kCancelled,        // the caller's std::stop_token asked to stop
  kApi,              // a well-formed error answer of the provider
  kProtocol,         // an answer that can't be understood
  kTerminalState,    // the sandbox entered Failed, Stopping or Terminated
  kOutputLimit,      // output larger than the cap; the partial output is kept
  kStreamTruncated,  // the stream ended without its completion event
  kOutcomeUnknown,   // the request may or may not have taken effect, and looking it up did not tell
  kSandboxGone,      // the sandbox does not exist any more
  kNotImplemented,   // the provider has no such operation
};
std::string_view ToString(ErrorKind kind);

// Which clock ran out in an error of kind kTimeout.
enum class TimeoutClock {
  kNone,
  kConnect,      // TCP (and TLS) connection set-up
  kRequest,      // one request, from its first byte to the end of its answer
  kReady,        // the wait for Running and for the execd endpoint
  kRunDeadline,  // the whole run of a piece of code
  kIdle,         // no byte from the stream for the idle time
};
std::string_view ToString(TimeoutClock clock);

// Whether the failed request took effect at the provider.
enum class Outcome {
  kDidNotHappen,  // certainly not: never sent, or refused by an answer
  kHappened,      // certainly: the provider said so
  kUnknown,       // sent, and no answer tells
};
std::string_view ToString(Outcome outcome);

// What became of the sandbox that the failed call had already created.
enum class Cleanup {
  kNotNeeded,  // the call created nothing
  kDeleted,    // deleted (or found gone) before the error was returned
  kFailed,     // still there as far as we know: `sandbox_id` names it, and the LeakSink was told
};
std::string_view ToString(Cleanup cleanup);

// An operational failure. A plain value: copy it, print it with Describe().
struct Error {
  ErrorKind kind = ErrorKind::kProtocol;
  // For people. Texts that the provider contract fixes are kept word for word.
  std::string message{};
  int http_status = 0;       // 0: no answer
  std::string code{};        // the provider's error code, e.g. "DOCKER::SANDBOX_NOT_FOUND"
  std::string request_id{};  // the answer's X-Request-ID
  std::optional<Duration> retry_after{};
  int attempts = 0;          // requests sent for this operation
  std::string operation{};   // "createSandbox", "getSandbox", ...
  std::string sandbox_id{};  // empty when unknown
  Outcome outcome = Outcome::kDidNotHappen;
  Cleanup cleanup = Cleanup::kNotNeeded;
  std::string cleanup_message{};  // why the clean-up failed
  TimeoutClock timeout_clock = TimeoutClock::kNone;
  // The sandbox's last known status.
  std::string state{};
  std::string state_reason{};
  std::string state_message{};
  // Output received before the failure (runs only).
  std::shared_ptr<const CodeExecutionResult> partial_result{};

  // One line with everything that is set, for logs. Holds no secrets.
  std::string Describe() const;
};

// Thrown by Result<T>::value() only.
class ErrorException : public std::exception {
 public:
  explicit ErrorException(Error error);
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Error error_;
  std::string text_;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_BASE_ERROR_H_

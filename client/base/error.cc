#include "opensandbox/base/error.h"

#include <utility>

#include "opensandbox/base/units.h"

namespace opensandbox {

std::string_view ToString(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return "invalid argument";
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
      return "terminal state";
    case ErrorKind::kOutputLimit:
      return "output limit";
    case ErrorKind::kStreamTruncated:
      return "stream truncated";
    case ErrorKind::kOutcomeUnknown:
      return "outcome unknown";
    case ErrorKind::kSandboxGone:
      return "sandbox gone";
    case ErrorKind::kNotImplemented:
      return "not implemented";
  }
  return "unknown";
}

std::string_view ToString(TimeoutClock clock) {
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
      return "run deadline";
    case TimeoutClock::kIdle:
      return "idle";
  }
  return "unknown";
}

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDidNotHappen:
      return "did not happen";
    case Outcome::kHappened:
      return "happened";
    case Outcome::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view ToString(Cleanup cleanup) {
  switch (cleanup) {
    case Cleanup::kNotNeeded:
      return "not needed";
    case Cleanup::kDeleted:
      return "deleted";
    case Cleanup::kFailed:
      return "failed";
  }
  return "unknown";
}

std::string Error::Describe() const {
  std::string text(ToString(kind));
  if (timeout_clock != TimeoutClock::kNone) text.append(" (").append(ToString(timeout_clock)).append(")");
  // Texts from outside may hold line breaks or terminal sequences; a log line may not.
  const auto add = [&text](std::string_view value) {
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      text += byte < 0x20 || byte == 0x7f ? ' ' : c;
    }
  };
  if (!message.empty()) {
    text += ": ";
    add(message);
  }
  std::string_view separator = " [";
  const auto field = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text.append(separator).append(name).append("=");
    add(value);
    separator = ", ";
  };
  field("operation", operation);
  field("sandbox", sandbox_id);
  if (http_status != 0) field("http_status", std::to_string(http_status));
  field("code", code);
  field("request_id", request_id);
  if (retry_after) field("retry_after", FormatDuration(*retry_after));
  if (attempts != 0) field("attempts", std::to_string(attempts));
  field("outcome", ToString(outcome));
  if (cleanup != Cleanup::kNotNeeded) field("cleanup", ToString(cleanup));
  field("cleanup_message", cleanup_message);
  field("state", state);
  field("state_reason", state_reason);
  field("state_message", state_message);
  if (partial_result) field("partial_result", "kept");
  return text + "]";
}

ErrorException::ErrorException(Error error) : error_(std::move(error)), text_(error_.Describe()) {}

}  // namespace opensandbox

// Events of execd's stream (wire reference 2.3): one JSON object and two LFs each, without any SSE prefix.
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_EVENT_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_EVENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opensandbox/base/time.h"

namespace opensandbox::emulator {

// Writes events as Go marshals them: fields in the order type, text, execution_count, execution_time, timestamp,
// results, error, and each left out when it is empty or zero.
struct ExecdEvent {
  std::string_view type;
  std::string_view text = {};
  std::int64_t execution_count = 0;
  std::int64_t execution_time_ms = 0;
  WallTime at{};
  // MIME types and values, not yet sorted; "text/plain" is renamed to "text". A value of a JSON type (application/json,
  // anything with +json) that parses is written as JSON.
  const std::vector<std::pair<std::string, std::string>>* results = nullptr;
  // Absent: no error. A null traceback is written as null.
  struct ErrorOutput {
    std::string_view name, value;
    const std::vector<std::string>* traceback = nullptr;
  };
  const ErrorOutput* error = nullptr;

  std::string Line() const;
};

// An event too large for one string: Head, any number of escaped pieces of its text, Tail.
std::string EventHead(std::string_view type);
std::string EventTail(WallTime at);

// {"code":...,"message":...} without a line end: how execd tells a failure behind the first event.
std::string BareErrorObject(std::string_view code, std::string_view message);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_EVENT_H_

// The seam between the API clients and HTTP.
#ifndef OPENSANDBOX_TRANSPORT_TRANSPORT_H_
#define OPENSANDBOX_TRANSPORT_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "opensandbox/base/clock.h"
#include "opensandbox/base/result.h"

namespace opensandbox {

struct HeaderField {
  std::string name{};
  std::string value{};
  bool operator==(const HeaderField&) const = default;
};

// Case-insensitive look-up of the first field with that name; nullopt if there is none.
std::optional<std::string> FindHeader(const std::vector<HeaderField>& headers, std::string_view name);

struct HttpRequest {
  std::string method{};  // "GET", "POST", ...
  std::string url{};     // absolute, http or https, already escaped
  std::vector<HeaderField> headers{};
  std::string body{};
};

// Limits of one exchange. All times are readings of, or spans on, the transport's clock.
struct ExchangeOptions {
  std::optional<TimePoint> deadline{};        // for the whole exchange; passing it is TimeoutClock::kRequest
  std::optional<Duration> connect_timeout{};  // TimeoutClock::kConnect
  std::optional<Duration> idle_timeout{};     // longest gap between two received bytes; TimeoutClock::kIdle
  std::size_t response_bytes_max = 16 << 20;  // body of Send(); over it: kProtocol
  std::stop_token stop{};                     // kCancelled, within 100 ms
};

struct HttpResponse {
  int status = 0;
  std::vector<HeaderField> headers{};
  std::string body{};
};

enum class StreamAction { kContinue, kStop };

// How far a streamed exchange got.
struct StreamEnd {
  int status = 0;
  std::vector<HeaderField> headers{};
  bool stopped_by_handler = false;  // the connection was closed by us, the rest unread
};

struct StreamHandler {
  // Called once with status and headers, before any byte. kStop: close without reading the body.
  std::function<StreamAction(int status, const std::vector<HeaderField>& headers)> on_headers{};
  // Called for each piece of the decoded body as it arrives.
  std::function<StreamAction(std::string_view bytes)> on_bytes{};
};

// Executes exchanges. An HTTP error status is a success here: turning it into an Error is the caller's business.
// Never follows a redirect, never repeats a request, offers no content coding (Accept-Encoding: identity), sends
// exactly the given headers besides Host, Content-Length, Connection, Accept-Encoding and User-Agent.
// Errors: kTransport, kTimeout, kCancelled, kProtocol (not HTTP, too large), each with `outcome`: kDidNotHappen if it
// is certain that not one byte of the request was written, else kUnknown.
// Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Result<HttpResponse> Send(const HttpRequest& request, const ExchangeOptions& options) = 0;
  // Errors as above; a body cut short (missing terminator, too few bytes, reset) is kStreamTruncated, after everything
  // received was handed to the handler.
  virtual Result<StreamEnd> Stream(const HttpRequest& request, const ExchangeOptions& options,
                                   const StreamHandler& handler) = 0;
  // The clock on which the limits are measured.
  virtual Clock& clock() = 0;
};

}  // namespace opensandbox

#endif  // OPENSANDBOX_TRANSPORT_TRANSPORT_H_

// What the OpenSandbox provider writes and reads: bodies, URLs, headers, answers. No requests are made here.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_OPENSANDBOX_WIRE_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_OPENSANDBOX_WIRE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opensandbox/base/clock.h"
#include "opensandbox/base/result.h"
#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox::internal {

// --- texts ---

// Everything but unreserved characters (RFC 3986) percent-encoded: one path segment, or one query value.
std::string PercentEncode(std::string_view text);
// Seconds as Python prints a float, which the contract's messages do: 30.0, 0.5, 1e-05.
std::string PythonSeconds(Duration duration);
// At most 200 bytes of a body on one line, as UTF-8, in quotes.
std::string Excerpt(std::string_view body);

// --- requests ---

// The base without trailing slashes. kInvalidArgument: absent (the contract's text), no http(s) URL, a query, a
// fragment or user information.
Result<std::string> CheckedApiBase(const std::optional<std::string>& base);
// kInvalidArgument unless the id can be one path segment: not empty, no "." or "..", at most 256 bytes.
Result<void> CheckSandboxId(const std::string& id);
// kInvalidArgument for a key that no header can hold.
Result<void> CheckApiKey(const std::string& key);
// The body of POST /sandboxes: litellm's contract section 6.2 in its order, plus `create_tag` in the metadata under
// kCreateTagKey. kInvalidArgument: text that is no UTF-8, a network policy that is no JSON object, the tag's key used.
Result<std::string> CreateBody(const CreateSandboxRequest& request, const std::string& create_tag);
// The body of POST /code. kInvalidArgument for text that is no UTF-8.
Result<std::string> RunBody(const RunCodeRequest& request);
// Content-Type and, unless `api_key` is empty, OPEN-SANDBOX-API-KEY.
std::vector<HeaderField> LifecycleHeaders(const std::string& api_key);
// "METADATA=VALUE" for the list's query. The server decodes the value once as a query value and then parses it as a
// query string of its own (wire reference 1.9). Neither key nor tag holds a character that needs the second encoding.
std::string CreateTagQuery(const std::string& create_tag);

// --- answers ---

struct SandboxStatus {
  std::string state;  // empty: none given
  std::string reason;
  std::string message;
};

struct SandboxRecord {
  std::string id;
  SandboxStatus status;
  std::string create_tag;  // metadata value under kCreateTagKey, or empty
  std::string body;        // the whole answer to a create, where the provider needs more of it
};

struct ExecdEndpoint {
  std::string endpoint;  // as the provider gave it; empty: not ready yet
  std::vector<HeaderField> headers;
};

struct SandboxPage {
  std::vector<SandboxRecord> records;
  bool has_next_page = false;
};

// Each is kProtocol, with an excerpt, for a body that is not JSON or not of the right shape. `operation` goes into the
// error. A record without id (create only) is a shape error; one without state is not.
Result<SandboxRecord> ParseSandbox(const std::string& operation, const HttpResponse& response, bool needs_id);
Result<ExecdEndpoint> ParseEndpoint(const HttpResponse& response);
Result<SandboxPage> ParseSandboxPage(const HttpResponse& response);

// The base URL of execd. A scheme-less endpoint gets the scheme of `api_base`; trailing slashes go. kProtocol: no URL
// comes out of it, or it is http:// under an https:// base and `allow_insecure` is false.
Result<std::string> ExecdBase(const std::string& endpoint, const std::string& api_base, bool allow_insecure);
// `headers` then the endpoint's, which override by name. Framing headers (Content-Length, Transfer-Encoding,
// Connection) are not the endpoint's to set and are left out.
std::vector<HeaderField> WithEndpointHeaders(std::vector<HeaderField> headers, const std::vector<HeaderField>& extra);

// The error of an answer that is not 2xx: kApi with status, code and message in every shape seen in the wild
// ({code,message}, {detail:{code,message}}, {detail:"..."}, {detail:[{loc,msg}]}, {error:"..."}, text), X-Request-ID
// and Retry-After. A redirect names the origin it points to and nothing else of it. Outcome: a status below 500 says
// that nothing happened, one from 500 on leaves it open.
Error ApiError(const std::string& operation, int status, const std::vector<HeaderField>& headers, std::string_view body,
               const std::string& request_url, const Clock& clock, const std::string& label = "OpenSandbox");
// Seconds or an HTTP date; nullopt for anything else and for negative values. At most ten years.
std::optional<Duration> ParseRetryAfter(std::string_view text, WallTime now);

bool IsTerminal(std::string_view state);
Error TerminalStateError(const std::string& id, const SandboxStatus& status);

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_OPENSANDBOX_WIRE_H_

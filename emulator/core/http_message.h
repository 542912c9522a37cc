// A request and a header field as the emulator's pure parts see them. (The client has its own: the emulator is an
// independent witness.)
#ifndef OPENSANDBOX_EMULATOR_CORE_HTTP_MESSAGE_H_
#define OPENSANDBOX_EMULATOR_CORE_HTTP_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opensandbox::emulator {

struct Header {
  std::string name;  // case as on the wire
  std::string value;
  bool operator==(const Header&) const = default;
};

struct Request {
  std::string method;
  std::string target;           // as on the request line
  std::string path;             // target up to '?', still percent-encoded
  std::string query;            // behind '?', still percent-encoded
  std::vector<Header> headers;  // in an order the HTTP library gives; names as sent
  std::string body;
  bool has_body = false;         // a Content-Length or Transfer-Encoding header was sent
  std::string peer;              // "127.0.0.1:50412"
  std::string local;             // the address the request came in on, "127.0.0.1:8080"
  std::uint64_t connection = 0;  // number of the connection, from 1
  bool tls = false;

  // First field of that name, compared without case.
  std::optional<std::string> FindHeader(std::string_view name) const;
  // Values of a repeated query parameter in order, decoded ('+' is a blank).
  std::vector<std::string> QueryValues(std::string_view name) const;
  std::optional<std::string> QueryValue(std::string_view name) const;
};

std::string PercentDecode(std::string_view text, bool plus_is_blank);
std::string PercentEncode(std::string_view text);
// Splits on '/', then decodes each segment. "/v1/a%2Fb" gives {"v1", "a/b"}; a trailing slash gives a last "".
std::vector<std::string> PathSegments(std::string_view path);
// Decoded pairs in order.
std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CORE_HTTP_MESSAGE_H_

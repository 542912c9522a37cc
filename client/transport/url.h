// The parts of an absolute http or https URL that a request needs.
#ifndef OPENSANDBOX_CLIENT_TRANSPORT_URL_H_
#define OPENSANDBOX_CLIENT_TRANSPORT_URL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "opensandbox/base/result.h"

namespace opensandbox::internal {

struct Url {
  bool secure = false;
  std::string host;         // lower case; an IPv6 literal without its brackets
  bool host_is_ip = false;  // the host is a numeric address
  std::uint16_t port = 0;   // explicit, or 80 / 443
  std::string host_header;  // value of the Host header: the port only if it is not the scheme's own
  std::string target;       // path and query exactly as given, "/" for none; no fragment

  // "https://[::1]:8443": same scheme, host and port.
  std::string Origin() const;
};

// kInvalidArgument for anything but an absolute, escaped http(s) URL: other schemes, no host, a bad port or IPv6
// literal, user information, blanks, control characters or bytes over 0x7e.
Result<Url> ParseUrl(std::string_view text);

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_TRANSPORT_URL_H_

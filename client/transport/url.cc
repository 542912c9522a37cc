#include "client/transport/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "client/transport/ascii.h"

namespace opensandbox::internal {
namespace {

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  if (!std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) { return a == Lower(b); }))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool IsNameCharacter(char c) { return IsLetter(c) || IsDigit(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

std::string BracketedIfIpv6(const std::string& host) {
  if (host.find(':') == std::string::npos) return host;
  std::string text = "[";
  text += host;
  return text += "]";
}

template <typename Address>
bool IsAddress(int family, const std::string& text) {
  Address address;
  return inet_pton(family, text.c_str(), &address) == 1;
}

Error Bad(std::string_view text, std::string_view why) {
  // Only the front: what follows may hold a secret in its query.
  std::string shown;
  for (const char c : text.substr(0, std::min<std::size_t>(text.find('?'), 200))) {
    shown += c > 0x20 && c < 0x7f ? c : '?';
  }
  // The same for a password before the host.
  const std::size_t at = shown.find('@');
  if (at != std::string::npos) shown.replace(0, at, "...");
  return {.kind = ErrorKind::kInvalidArgument,
          .message = "bad URL '" + shown + "': " + std::string(why),
          .outcome = Outcome::kDidNotHappen};
}

}  // namespace

std::string Url::Origin() const {
  std::string origin = secure ? "https://" : "http://";
  origin += BracketedIfIpv6(host);
  origin += ":";
  return origin += std::to_string(port);
}

Result<Url> ParseUrl(std::string_view text) {
  Url url;
  std::string_view rest = text;
  if (TakePrefix(rest, "https://")) {
    url.secure = true;
  } else if (!TakePrefix(rest, "http://")) {
    return Bad(text, "it must begin with http:// or https://");
  }
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= 0x20 || c >= 0x7f; })) {
    return Bad(text, "blanks, control characters and characters over 0x7e must be escaped");
  }
  std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  std::string_view target = rest.substr(authority.size());
  target = target.substr(0, target.find('#'));
  if (target.empty() || target.front() != '/') url.target = "/";
  url.target.append(target);

  if (authority.find('@') != std::string_view::npos) return Bad(text, "user information is not supported");
  std::string_view host;
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return Bad(text, "']' is missing after the IPv6 address");
    host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
    if (!port.empty() && port.front() != ':') return Bad(text, "only a port may follow the IPv6 address");
  } else {
    host = authority.substr(0, authority.find(':'));
    port = authority.substr(host.size());
  }
  if (host.empty()) return Bad(text, "it names no host");
  std::transform(host.begin(), host.end(), std::back_inserter(url.host), Lower);
  if (authority.front() == '[') {
    if (!IsAddress<in6_addr>(AF_INET6, url.host)) return Bad(text, "no valid IPv6 address between the brackets");
    url.host_is_ip = true;
  } else {
    if (!std::all_of(url.host.begin(), url.host.end(), IsNameCharacter)) return Bad(text, "no valid host name");
    url.host_is_ip = IsAddress<in_addr>(AF_INET, url.host);
  }

  const std::uint16_t default_port = url.secure ? 443 : 80;
  url.port = default_port;
  if (port.size() > 1) {  // ":" alone means the default (RFC 3986, 3.2.3)
    unsigned value = 0;
    const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), value);
    if (error != std::errc() || end != port.data() + port.size() || value == 0 || value > 65535) {
      return Bad(text, "the port must be a number from 1 to 65535");
    }
    url.port = static_cast<std::uint16_t>(value);
  }
  url.host_header = BracketedIfIpv6(url.host);
  if (url.port != default_port) url.host_header.append(":").append(std::to_string(url.port));
  return url;
}

}  // namespace opensandbox::internal

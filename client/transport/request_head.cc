#include "client/transport/request_head.h"

#include "client/transport/ascii.h"

namespace opensandbox::internal {
namespace {

Error Bad(std::string message) {
  return {.kind = ErrorKind::kInvalidArgument, .message = std::move(message), .outcome = Outcome::kDidNotHappen};
}

}  // namespace

Result<std::string> ComposeRequestHead(const HttpRequest& request, const Url& url, const std::string& user_agent,
                                       bool keep_alive) {
  if (!IsToken(request.method)) return Bad("the request method is no HTTP token");
  if (request.method == "CONNECT") return Bad("CONNECT is not supported");
  std::string given;
  for (const HeaderField& field : request.headers) {
    // Values may be secrets, so they are not shown.
    if (!IsToken(field.name)) return Bad("a request header has a name that is no HTTP token");
    if (HasControlCharacter(field.value)) {
      return Bad("the value of request header '" + field.name + "' holds a control character");
    }
    if (EqualsIgnoringCase(field.name, "Transfer-Encoding")) return Bad("a given Transfer-Encoding is not supported");
    if (EqualsIgnoringCase(field.name, "Content-Length")) continue;
    given.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  std::string head = request.method + " " + url.target + " HTTP/1.1\r\n";
  const auto add_default = [&](std::string_view name, std::string_view value) {
    if (value.empty() || FindHeader(request.headers, name)) return;
    head.append(name).append(": ").append(value).append("\r\n");
  };
  add_default("Host", url.host_header);
  add_default("User-Agent", user_agent);
  add_default("Accept-Encoding", "identity");
  add_default("Connection", keep_alive ? "keep-alive" : "close");
  head += given;
  // RFC 9110, 8.6: methods that usually carry content say so when there is none.
  const bool expects_content = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (!request.body.empty() || expects_content) {
    head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  return head + "\r\n";
}

}  // namespace opensandbox::internal

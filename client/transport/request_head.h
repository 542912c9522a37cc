// The request line and headers of a request, exactly as they go out.
#ifndef OPENSANDBOX_CLIENT_TRANSPORT_REQUEST_HEAD_H_
#define OPENSANDBOX_CLIENT_TRANSPORT_REQUEST_HEAD_H_

#include <string>

#include "client/transport/url.h"
#include "opensandbox/transport/transport.h"

namespace opensandbox::internal {

// The caller's headers in their order, behind Host, User-Agent, Accept-Encoding and Connection (each only if the caller
// gave none) and before Content-Length (always of the body; a given one is left out). kInvalidArgument for a method or
// header that would not be HTTP, CONNECT, and a Transfer-Encoding.
Result<std::string> ComposeRequestHead(const HttpRequest& request, const Url& url, const std::string& user_agent,
                                       bool keep_alive);

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_TRANSPORT_REQUEST_HEAD_H_

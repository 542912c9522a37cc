// Transport over cpp-httplib. This header does not include it.
#ifndef OPENSANDBOX_TRANSPORT_HTTPLIB_TRANSPORT_H_
#define OPENSANDBOX_TRANSPORT_HTTPLIB_TRANSPORT_H_

#include <memory>
#include <string>

#include "opensandbox/transport/transport.h"

namespace opensandbox {

struct HttplibTransportOptions {
  // Must outlive the transport. Null: real time.
  Clock* clock = nullptr;
  std::string user_agent = "opensandbox-cpp/0.1.0";
  std::size_t head_bytes_max = 64 << 10;  // status line and headers of an answer; over it: kProtocol
  std::size_t idle_connections_max = 8;   // kept open per origin for the next request
  std::string ca_file{};                  // PEM; empty: the system's
  bool verify_certificates = true;
};

std::shared_ptr<Transport> MakeHttplibTransport(HttplibTransportOptions options = {});

}  // namespace opensandbox

#endif  // OPENSANDBOX_TRANSPORT_HTTPLIB_TRANSPORT_H_

// What the transport's tests share: a transport and raw servers on one clock that jumps.
#ifndef OPENSANDBOX_TESTS_UNIT_TRANSPORT_TRANSPORT_FIXTURE_H_
#define OPENSANDBOX_TESTS_UNIT_TRANSPORT_TRANSPORT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opensandbox/base/virtual_clock.h"
#include "opensandbox/transport/httplib_transport.h"
#include "tests/support/matchers.h"
#include "tests/support/raw_server.h"

namespace opensandbox {

inline std::string Answer(std::string_view body, std::string_view more_headers = "") {
  std::string answer = "HTTP/1.1 200 OK\r\n";
  answer.append(more_headers).append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return answer.append(body);
}

inline constexpr char kChunkedHead[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Request-ID: req-7\r\n\r\n";

// The test's thread takes part in the clock: time stands still while it runs.
class TransportTest : public ::testing::Test {
 protected:
  using Peer = testing::RawServer::Peer;

  explicit TransportTest(HttplibTransportOptions options = {}) { Make(std::move(options)); }

  void Make(HttplibTransportOptions options) {
    options.clock = &clock_;
    transport_ = MakeHttplibTransport(std::move(options));
  }
  // A server on the test's clock.
  testing::RawServer& Serve(testing::RawServer::Script script, bool ipv6 = false) {
    server_ = std::make_unique<testing::RawServer>(std::move(script),
                                                   testing::RawServer::Options{.clock = &clock_, .ipv6 = ipv6});
    return *server_;
  }
  // One that reads one request per connection, sends these bytes and closes.
  testing::RawServer& ServeBytes(std::string bytes) {
    return Serve([bytes = std::move(bytes)](Peer& peer) {
      if (peer.ReadRequest()) peer.Send(bytes);
    });
  }
  // One that answers every request on the connection with the same bytes.
  testing::RawServer& ServeKeepAlive(std::string bytes) {
    return Serve([bytes = std::move(bytes)](Peer& peer) {
      while (peer.ReadRequest() && peer.Send(bytes)) {
      }
    });
  }
  HttpRequest Get(std::string_view path = "/") { return {.method = "GET", .url = server_->url(path)}; }
  Result<HttpResponse> Send(const ExchangeOptions& options = {}) { return transport_->Send(Get(), options); }

  struct Streamed {
    Result<StreamEnd> end;
    int headers_calls_count = 0;
    int status = 0;
    std::string body;
  };
  Streamed Stream(const ExchangeOptions& options = {}) {
    int calls = 0;
    int status = 0;
    std::string body;
    StreamHandler handler;
    handler.on_headers = [&](int s, const std::vector<HeaderField>&) {
      ++calls;
      status = s;
      return StreamAction::kContinue;
    };
    handler.on_bytes = [&](std::string_view bytes) {
      body.append(bytes);
      return StreamAction::kContinue;
    };
    Result<StreamEnd> end = transport_->Stream(Get(), options, handler);
    return {std::move(end), calls, status, std::move(body)};
  }

  VirtualClock clock_;
  Participant me_{clock_};
  std::shared_ptr<Transport> transport_;
  std::unique_ptr<testing::RawServer> server_;
};

// Properties of an error.
MATCHER_P(OutcomeIs, outcome, "") { return arg.outcome == outcome; }
MATCHER_P(StatusIs, status, "") { return arg.http_status == status; }
MATCHER_P(TimeoutClockIs, which, "") { return arg.timeout_clock == which; }

}  // namespace opensandbox

#endif  // OPENSANDBOX_TESTS_UNIT_TRANSPORT_TRANSPORT_FIXTURE_H_

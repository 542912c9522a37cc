// Listens, parses requests with cpp-httplib, executes reply plans on the socket. This header does not include httplib.
#ifndef OPENSANDBOX_EMULATOR_HTTP_HTTP_SERVER_H_
#define OPENSANDBOX_EMULATOR_HTTP_HTTP_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/core/http_message.h"
#include "emulator/core/reply_plan.h"
#include "emulator/http/refusal_gate.h"
#include "opensandbox/base/clock.h"
#include "opensandbox/base/result.h"

namespace opensandbox::emulator {

enum class AcceptAction {
  kServe,
  kReset,  // at once
  kHang,   // what the client sends is read and dropped; it never gets a byte
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any
  // Waits and delays of this listener's connections run on it; its ConnectionActivity, if any, is kept informed.
  std::shared_ptr<Clock> clock;
  std::size_t body_bytes_max = 8 << 20;   // over it: `too_large` is answered, the connection closed
  std::size_t head_bytes_max = 64 << 10;  // request line and headers
  std::size_t connections_max = 20000;    // over it: `over_limit`, connection closed
  // An idle connection is closed after that long on the clock; so is one that stays silent for that long inside a
  // request.
  Duration keep_alive = std::chrono::seconds(30);
  // Asked about each connection, on the accepting thread. May be null.
  std::function<AcceptAction()> on_accept;
  // When connections are refused, on `clock`, since the start.
  std::vector<RefusalWindow> refusals;
  // Told of an exception that the handler let out (what() of it, or "unknown"). May be null.
  std::function<void(const Request&, const std::string& what)> on_exception;
};

// The answers to what is no request at all; the surface decides their bytes. The connection is closed after each. A
// null one is a plain text reply. A request line over 8192 bytes (414) and a head over the limit (431) are always
// answered in plain text.
struct HttpServerReplies {
  std::function<ReplyPlan()> bad_request;  // 400: no valid HTTP
  std::function<ReplyPlan()> too_large;    // 413
  std::function<ReplyPlan()> over_limit;   // 503
};

class HttpServer {
 public:
  // Called on the connection's thread; the plan it returns is executed there. May be called concurrently. Must not
  // throw; an exception is answered 500 text/plain "Internal Server Error" and told to `on_exception`.
  // `clock`: what the plan's waits use (tenants may have their own), and from then on all waits of this connection;
  // null: unchanged, at first the server's.
  struct Handled {
    ReplyPlan plan;
    std::shared_ptr<Clock> clock;
  };
  using Handler = std::function<Handled(const Request&)>;

  // Binds and starts to accept. kInvalidArgument (a bad host or port), kTransport (port in use, no permission).
  static Result<std::unique_ptr<HttpServer>> Start(HttpServerOptions options, Handler handler,
                                                   HttpServerReplies replies);
  virtual ~HttpServer() = default;  // Stop(0)

  virtual int port() const = 0;
  virtual std::string address() const = 0;  // "127.0.0.1:40123"
  virtual std::size_t open_connections() const = 0;
  // Closes the listener; idle and silent connections are closed at once, others get `grace` of real time to end. All
  // have ended, and no thread is left, when it returns. May be called again.
  virtual void Stop(Duration grace) = 0;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_HTTP_HTTP_SERVER_H_

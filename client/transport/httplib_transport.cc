// The one file of the client that includes httplib.h. Written to 0.11.4; compiles with newer releases.
#include "opensandbox/transport/httplib_transport.h"

#include <httplib.h>

#include <exception>
#include <utility>

#include "client/transport/connection.h"
#include "client/transport/connection_pool.h"
#include "client/transport/request_head.h"
#include "client/transport/response_filter.h"
#include "client/transport/url.h"

namespace opensandbox {
namespace {

using internal::Connection;
using internal::ConnectionPool;
using internal::ExchangeWaiter;
using internal::Failure;
using internal::ResponseFilter;
using internal::TlsContext;
using internal::Trouble;
using internal::Url;

// One read of the connection.
constexpr std::size_t kReadBytes = 16 << 10;

// Members that httplib::Stream has had since 0.16; in 0.11 they override nothing, hence no `override`.
class StreamOfAnyVersion : public httplib::Stream {
 public:
  bool wait_readable() const { return true; }
  bool wait_writable() const { return true; }
  time_t duration() const { return 0; }
};

// What httplib takes for its connection. All I/O is done here, so all limits hold here.
class ExchangeStream : public StreamOfAnyVersion {
 public:
  // Everything must outlive the stream.
  ExchangeStream(Connection& connection, ExchangeWaiter& waiter, ResponseFilter& filter, const std::string& head,
                 const std::string& body)
      : connection_(connection), waiter_(waiter), filter_(filter), head_(head), body_(body) {}

  const Failure& failure() const { return failure_; }
  // The request did not leave whole, so the connection is of no further use even if an answer came.
  bool send_failed() const { return static_cast<bool>(send_failure_); }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return connection_.fd(); }

  // httplib's own request is dropped: it sorts the headers and adds Accept and Content-Type where the caller gave none.
  // Ours goes out before the first read.
  ssize_t write(const char*, size_t size) override { return static_cast<ssize_t>(size); }

  ssize_t read(char* buffer, size_t size) override {
    if (!request_sent_) SendRequest();
    while (true) {
      if (const std::size_t count = filter_.Take(buffer, size); count > 0) return static_cast<ssize_t>(count);
      if (failure_ || filter_.state() == ResponseFilter::State::kMalformed) return -1;
      if (filter_.state() == ResponseFilter::State::kComplete) return 0;
      std::size_t count = 0;
      failure_ = connection_.Receive(waiter_, received_, sizeof(received_), &count);
      if (!failure_) {
        filter_.Feed(std::string_view(received_, count));
      } else if (failure_.trouble == Trouble::kClosed) {
        filter_.FeedEnd();
        if (filter_.state() == ResponseFilter::State::kComplete) failure_ = {};
      }
      const bool ended = failure_.trouble == Trouble::kClosed || failure_.trouble == Trouble::kBroken;
      if (ended && send_failure_) failure_ = send_failure_;  // the cause
    }
  }

 private:
  void SendRequest() {
    request_sent_ = true;
    waiter_.set_phase(ExchangeWaiter::Phase::kWrite);
    // Small bodies leave with the head, in one packet.
    if (body_.size() <= kReadBytes) {
      failure_ = connection_.Send(waiter_, head_ + body_);
    } else {
      failure_ = connection_.Send(waiter_, head_);
      if (!failure_) failure_ = connection_.Send(waiter_, body_);
    }
    waiter_.set_phase(ExchangeWaiter::Phase::kRead);
    // A server may answer and close before it has read a large body; the answer says more than the broken pipe.
    if (failure_.trouble == Trouble::kBroken && connection_.bytes_written_count() > 0) {
      send_failure_ = std::exchange(failure_, {});
    }
  }

  Connection& connection_;
  ExchangeWaiter& waiter_;
  ResponseFilter& filter_;
  const std::string& head_;
  const std::string& body_;
  bool request_sent_ = false;
  Failure send_failure_;
  Failure failure_;
  char received_[kReadBytes];
};

// httplib's client without its sockets: process_request() is the part of it that speaks HTTP on a given stream. What
// lies around it in send() (select(2) with real time, redirects, authentication, repeats) is not wanted here.
class Engine : public httplib::ClientImpl {
 public:
  explicit Engine(const Url& url) : ClientImpl(url.host, url.port) {
    set_decompress(false);
    set_follow_location(false);
  }
  bool Process(httplib::Stream& stream, httplib::Request& request) {
    httplib::Response response;
    httplib::Error error = httplib::Error::Success;
    return process_request(stream, request, response, false, error);
  }
};

// How an exchange ended, as far as the wire goes.
struct Exchanged {
  int status = 0;  // 0: no complete head came
  std::vector<HeaderField> headers;
  bool stopped_by_handler = false;
  std::optional<Error> error;
  bool is_truncated = false;  // the error is a body cut short
};

class HttplibTransport : public Transport {
 public:
  explicit HttplibTransport(HttplibTransportOptions options)
      : options_(std::move(options)),
        clock_(options_.clock != nullptr ? *options_.clock : SystemClock::Instance()),
        tls_(options_.ca_file, options_.verify_certificates),
        pool_(clock_, options_.idle_connections_max) {}

  Result<HttpResponse> Send(const HttpRequest& request, const ExchangeOptions& options) override {
    HttpResponse response;
    bool is_too_large = false;
    StreamHandler handler;
    handler.on_headers = [&](int, const std::vector<HeaderField>&) { return StreamAction::kContinue; };
    handler.on_bytes = [&](std::string_view bytes) {
      if (bytes.size() > options.response_bytes_max - response.body.size()) {
        is_too_large = true;
        return StreamAction::kStop;
      }
      response.body.append(bytes);
      return StreamAction::kContinue;
    };
    Exchanged exchanged = Exchange(request, options, handler);
    if (is_too_large) {
      return MakeError(ErrorKind::kProtocol,
                       "the answer is larger than " + std::to_string(options.response_bytes_max) + " bytes",
                       Outcome::kUnknown, exchanged.status, exchanged.headers);
    }
    if (exchanged.error) return *std::move(exchanged.error);
    response.status = exchanged.status;
    response.headers = std::move(exchanged.headers);
    return response;
  }

  Result<StreamEnd> Stream(const HttpRequest& request, const ExchangeOptions& options,
                           const StreamHandler& handler) override {
    Exchanged exchanged = Exchange(request, options, handler);
    if (exchanged.error) {
      if (exchanged.is_truncated) exchanged.error->kind = ErrorKind::kStreamTruncated;
      return *std::move(exchanged.error);
    }
    return StreamEnd{.status = exchanged.status,
                     .headers = std::move(exchanged.headers),
                     .stopped_by_handler = exchanged.stopped_by_handler};
  }

  Clock& clock() override { return clock_; }

 private:
  static Error MakeError(ErrorKind kind, std::string message, Outcome outcome, int status = 0,
                         const std::vector<HeaderField>& headers = {}) {
    return {.kind = kind,
            .message = std::move(message),
            .http_status = status,
            .request_id = FindHeader(headers, "X-Request-ID").value_or(""),
            .outcome = outcome};
  }

  static Error FromFailure(const Failure& failure, Outcome outcome) {
    const auto timeout = [&](std::string message, TimeoutClock which) {
      Error error = MakeError(ErrorKind::kTimeout, std::move(message), outcome);
      error.timeout_clock = which;
      return error;
    };
    switch (failure.trouble) {
      case Trouble::kConnectTimeout:
        return timeout("the connection was not made in time", TimeoutClock::kConnect);
      case Trouble::kRequestDeadline:
        return timeout("the request was not answered in time", TimeoutClock::kRequest);
      case Trouble::kIdleTimeout:
        return timeout("no byte of the answer came for the idle time", TimeoutClock::kIdle);
      case Trouble::kCancelled:
        return MakeError(ErrorKind::kCancelled, failure.detail, outcome);
      case Trouble::kNone:
      case Trouble::kClosed:
      case Trouble::kBroken:
        break;
    }
    return MakeError(ErrorKind::kTransport, failure.detail, outcome);
  }

  Exchanged Exchange(const HttpRequest& request, const ExchangeOptions& options, const StreamHandler& handler) {
    Exchanged exchanged;
    const Result<Url> url = internal::ParseUrl(request.url);
    if (!url) {
      exchanged.error = url.error();
      return exchanged;
    }
    const Result<std::string> head =
        internal::ComposeRequestHead(request, *url, options_.user_agent, options_.idle_connections_max > 0);
    if (!head) {
      exchanged.error = head.error();
      return exchanged;
    }
    ExchangeWaiter waiter(clock_, options);
    if (const Failure failure = waiter.Check()) {
      exchanged.error = FromFailure(failure, Outcome::kDidNotHappen);
      return exchanged;
    }
    const std::string origin = url->Origin();
    std::unique_ptr<Connection> connection = pool_.Take(origin);
    if (!connection) {
      if (const Failure failure = Connection::Open(*url, tls_, waiter, &connection)) {
        exchanged.error = FromFailure(failure, Outcome::kDidNotHappen);
        return exchanged;
      }
    }
    ResponseFilter filter(request.method == "HEAD", options_.head_bytes_max);
    ExchangeStream stream(*connection, waiter, filter, *head, request.body);
    exchanged.stopped_by_handler = Process(*url, request, stream, filter, handler);
    if (filter.head_complete()) {
      exchanged.status = filter.status();
      exchanged.headers = filter.headers();
    }
    if (exchanged.stopped_by_handler) return exchanged;  // and the connection is closed
    const Outcome outcome = connection->bytes_written_count() > 0 ? Outcome::kUnknown : Outcome::kDidNotHappen;
    if (filter.state() == ResponseFilter::State::kMalformed) {
      exchanged.error =
          MakeError(ErrorKind::kProtocol, filter.complaint(), outcome, exchanged.status, exchanged.headers);
    } else if (filter.state() != ResponseFilter::State::kComplete) {
      exchanged.error = FromFailure(stream.failure(), outcome);
      exchanged.error->http_status = exchanged.status;
      exchanged.error->request_id = FindHeader(exchanged.headers, "X-Request-ID").value_or("");
      const bool is_broken = exchanged.error->kind == ErrorKind::kTransport;
      if (is_broken)
        exchanged.error->message += filter.head_complete() ? " before the end of the body" : " before the answer";
      exchanged.is_truncated = is_broken && filter.head_complete();
    } else if (filter.reusable() && !stream.send_failed()) {
      pool_.Put(origin, std::move(connection));
    }
    return exchanged;
  }

  // True if the handler wanted no more. Its exceptions pass through, after httplib has been left in an orderly way.
  static bool Process(const Url& url, const HttpRequest& request, ExchangeStream& stream, const ResponseFilter& filter,
                      const StreamHandler& handler) {
    bool stopped = false;
    bool headers_given = false;
    std::exception_ptr thrown;
    const auto guarded = [&](const auto& call) {
      try {
        stopped = call() == StreamAction::kStop;
      } catch (...) {
        thrown = std::current_exception();
      }
      return !stopped && !thrown;
    };
    const auto give_headers = [&] {
      headers_given = true;
      return !handler.on_headers || guarded([&] { return handler.on_headers(filter.status(), filter.headers()); });
    };
    httplib::Request engine_request;
    engine_request.method = request.method;
    engine_request.path = url.target;
    engine_request.response_handler = [&](const httplib::Response&) { return give_headers(); };
    // Generic, since the offsets' types differ between releases.
    engine_request.content_receiver = [&](const char* data, std::size_t size, auto, auto) {
      return !handler.on_bytes || guarded([&] { return handler.on_bytes(std::string_view(data, size)); });
    };
    Engine engine(url);
    engine.Process(stream, engine_request);
    // httplib tells the headers of an answer to HEAD or with status 204 to nobody.
    if (!headers_given && filter.state() == ResponseFilter::State::kComplete) give_headers();
    if (thrown) std::rethrow_exception(thrown);
    return stopped;
  }

  const HttplibTransportOptions options_;
  Clock& clock_;
  TlsContext tls_;
  ConnectionPool pool_;
};

}  // namespace

std::shared_ptr<Transport> MakeHttplibTransport(HttplibTransportOptions options) {
  return std::make_shared<HttplibTransport>(std::move(options));
}

}  // namespace opensandbox

#include "emulator/http/request_reader.h"

#include <httplib.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace opensandbox::emulator {
namespace {

constexpr std::string_view kContinueLine = "HTTP/1.1 100";
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
// A chunk of one byte takes six on the wire; anything far beyond is a chunk header without an end.
constexpr std::uint64_t kChunkOverhead = 8;
constexpr std::uint64_t kBodyBytesExtra = 64 << 10;

// The connection as cpp-httplib sees it: first the framing head, then the content. What it writes by itself is dropped
// (plans are written by the executor), but for the interim "100 Continue".
class ParserStream : public httplib::Stream {
 public:
  ParserStream(ConnectionStream& connection, std::string head, std::uint64_t raw_bytes_max, Duration gap_max)
      : connection_(connection), head_(std::move(head)), raw_bytes_left_(raw_bytes_max), gap_max_(gap_max) {}

  bool closed() const { return closed_; }
  // Chunked content ends with an empty line behind a line. 0.11.4 also calls it complete where a chunk is longer than
  // its header says; then the last line it read is not empty.
  bool ends_with_blank_line() const { return tail_ == "\r\n\r\n"; }
  bool over_limit() const { return over_limit_; }

  // Releases differ in which functions they have, so none of these says `override`.
  virtual bool is_readable() const { return true; }
  virtual bool is_writable() const { return true; }
  virtual bool wait_readable() const { return true; }
  virtual bool wait_writable() const { return true; }
  virtual time_t duration() const { return 0; }

  virtual ssize_t read(char* data, size_t size) {
    if (head_begin_ < head_.size()) {
      const std::size_t n = std::min(size, head_.size() - head_begin_);
      std::memcpy(data, head_.data() + head_begin_, n);
      head_begin_ += n;
      return static_cast<ssize_t>(n);
    }
    if (raw_bytes_left_ == 0) {
      over_limit_ = true;
      return -1;
    }
    if (connection_.buffered().empty()) {
      const IoResult result = connection_.ReadMore(connection_.clock().Now() + gap_max_, "request content");
      if (result != IoResult::kOk) {
        closed_ = true;
        return -1;
      }
    }
    const std::string_view buffered = connection_.buffered();
    const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>({size, buffered.size(), raw_bytes_left_}));
    std::memcpy(data, buffered.data(), n);
    tail_.append(buffered.substr(0, n));
    tail_.erase(0, tail_.size() - std::min<std::size_t>(tail_.size(), 4));
    connection_.Consume(n);
    raw_bytes_left_ -= n;
    return static_cast<ssize_t>(n);
  }

  virtual ssize_t write(const char* data, size_t size) {
    // Newer releases write the blank line by itself; it is dropped like the rest.
    if (std::string_view(data, size).substr(0, kContinueLine.size()) == kContinueLine) {
      connection_.Queue(kContinue, nullptr);
      if (connection_.Flush() != IoResult::kOk) {
        closed_ = true;
        return -1;
      }
    }
    return static_cast<ssize_t>(size);
  }

  virtual void get_remote_ip_and_port(std::string&, int&) const {}
  virtual void get_local_ip_and_port(std::string&, int&) const {}
  // 0.11.4 answers 500 by itself for descriptors that select(2) can't handle; nothing here uses select.
  virtual socket_t socket() const { return 0; }

 private:
  ConnectionStream& connection_;
  const std::string head_;
  std::size_t head_begin_ = 0;
  std::uint64_t raw_bytes_left_;
  const Duration gap_max_;
  std::string tail_;  // the last four bytes of content read
  bool closed_ = false;
  bool over_limit_ = false;
};

// What the handlers of the one httplib::Server need to know of the request that their thread is reading.
struct Exchange {
  std::string* body = nullptr;
  std::uint64_t body_bytes_max = 0;
  bool reached = false;  // a handler ran: cpp-httplib took the head for a request
  bool complete = false;
  bool too_long = false;
};
thread_local Exchange* current_exchange = nullptr;

}  // namespace

// Everything that depends on the release of cpp-httplib.
class RequestReader::Parser : public httplib::Server {
 public:
  Parser() {
    set_pre_routing_handler([](const httplib::Request& request, httplib::Response&) {
      current_exchange->reached = true;
      if (request.method != "GET") return HandlerResponse::Unhandled;
      current_exchange->complete = true;
      return HandlerResponse::Handled;
    });
    Post("/", [](const httplib::Request&, httplib::Response&, const httplib::ContentReader& read) {
      Exchange& exchange = *current_exchange;
      exchange.complete = read([&exchange](const char* data, std::size_t size) {
        if (exchange.body->size() + size > exchange.body_bytes_max) {
          exchange.too_long = true;
          return false;
        }
        exchange.body->append(data, size);
        return true;
      });
    });
  }

  void Parse(ParserStream& stream) {
    bool closed = false;
    Process(*this, &Parser::process_request, stream, closed);
  }

 private:
  using Setup = std::function<void(httplib::Request&)>;
  // Up to 0.16.
  static void Process(Parser& self, bool (Parser::*process)(httplib::Stream&, bool, bool&, const Setup&),
                      httplib::Stream& stream, bool& closed) {
    (self.*process)(stream, false, closed, nullptr);
  }
  // Since then.
  static void Process(Parser& self,
                      bool (Parser::*process)(httplib::Stream&, const std::string&, int, const std::string&, int, bool,
                                              bool&, const Setup&),
                      httplib::Stream& stream, bool& closed) {
    (self.*process)(stream, {}, 0, {}, 0, false, closed, nullptr);
  }
};

RequestReader::RequestReader(Limits limits) : limits_(limits), parser_(std::make_unique<Parser>()) {}
RequestReader::~RequestReader() = default;

ReadOutcome RequestReader::Read(ConnectionStream& stream, RequestHead* head) {
  HeadScanner scanner(limits_.head_bytes_max);
  HeadState state = scanner.Scan(stream.buffered());
  while (state == HeadState::kIncomplete) {
    if (stream.ReadMore(stream.clock().Now() + limits_.gap_max, "request head") != IoResult::kOk) {
      return ReadOutcome::kClosed;
    }
    state = scanner.Scan(stream.buffered());
  }
  if (state == HeadState::kComplete) {
    state = ParseHead(stream.buffered().substr(scanner.begin(), scanner.end() - scanner.begin()), head);
    stream.Consume(scanner.end());
  }
  if (state == HeadState::kMalformed) return ReadOutcome::kMalformed;
  if (state == HeadState::kTargetTooLong) return ReadOutcome::kTargetTooLong;
  if (state == HeadState::kHeadTooLong) return ReadOutcome::kHeadTooLong;
  // Told before the content is sent, as Expect wants it.
  if (head->content_length.value_or(0) > limits_.body_bytes_max) return ReadOutcome::kBodyTooLong;

  head->request.peer = stream.addresses().peer;
  head->request.local = stream.addresses().local;
  Exchange exchange{.body = &head->request.body, .body_bytes_max = limits_.body_bytes_max};
  ParserStream parser_stream(stream, head->Framing(), limits_.body_bytes_max * kChunkOverhead + kBodyBytesExtra,
                             limits_.gap_max);
  current_exchange = &exchange;
  parser_->Parse(parser_stream);
  current_exchange = nullptr;
  if (parser_stream.closed()) return ReadOutcome::kClosed;
  if (exchange.too_long || parser_stream.over_limit()) return ReadOutcome::kBodyTooLong;
  if (head->chunked && !parser_stream.ends_with_blank_line()) return ReadOutcome::kMalformed;
  return exchange.complete ? ReadOutcome::kRequest : ReadOutcome::kMalformed;
}

}  // namespace opensandbox::emulator

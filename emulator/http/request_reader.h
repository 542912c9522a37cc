// Reads one request from a connection with cpp-httplib.
#ifndef OPENSANDBOX_EMULATOR_HTTP_REQUEST_READER_H_
#define OPENSANDBOX_EMULATOR_HTTP_REQUEST_READER_H_

#include <cstddef>
#include <memory>

#include "emulator/http/connection_stream.h"
#include "emulator/http/request_head.h"
#include "opensandbox/base/time.h"

namespace opensandbox::emulator {

enum class ReadOutcome {
  kRequest,
  kClosed,         // by the client, or the server stops, or nothing came for the idle time
  kMalformed,      // 400
  kTargetTooLong,  // 414
  kHeadTooLong,    // 431
  kBodyTooLong,    // 413
};

// One for all connections of a server; thread-safe.
class RequestReader {
 public:
  struct Limits {
    std::size_t head_bytes_max = 64 << 10;
    std::size_t body_bytes_max = 8 << 20;
    // The longest gap between two bytes of a request.
    Duration gap_max = std::chrono::seconds(30);
  };

  explicit RequestReader(Limits limits);
  ~RequestReader();

  // `head->request` is complete after kRequest but for the connection's number. After any other outcome but kClosed
  // the stream stands inside a request: answer, then close.
  ReadOutcome Read(ConnectionStream& stream, RequestHead* head);

 private:
  class Parser;

  const Limits limits_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_HTTP_REQUEST_READER_H_

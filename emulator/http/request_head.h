// The request line and header fields, taken from the bytes as they came in.
//
// cpp-httplib keeps header fields in an unordered-by-arrival map, percent-decodes their values, matches paths and Range
// values with a recursive regular expression, takes a GET's content for the next request and reads a POST without a
// length up to the end of the connection. So the head is read here, and cpp-httplib is given one that says the same
// about framing and nothing else.
#ifndef OPENSANDBOX_EMULATOR_HTTP_REQUEST_HEAD_H_
#define OPENSANDBOX_EMULATOR_HTTP_REQUEST_HEAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/core/http_message.h"

namespace opensandbox::emulator {

// cpp-httplib's own limit on a request line (CPPHTTPLIB_REQUEST_URI_MAX_LENGTH), as most servers have it.
inline constexpr std::size_t kTargetBytesMax = 8192;

struct RequestHead {
  Request request;  // without body and addresses
  bool http10 = false;
  bool close = false;  // "Connection: close", or HTTP/1.0
  bool chunked = false;
  std::optional<std::uint64_t> content_length;
  bool expect_continue = false;

  // Whether bytes of content follow the head.
  bool has_content() const { return chunked || content_length.value_or(0) > 0; }
  // The head that cpp-httplib sees.
  std::string Framing() const;
};

enum class HeadState {
  kIncomplete,
  kComplete,
  kMalformed,      // 400
  kTargetTooLong,  // 414
  kHeadTooLong,    // 431
};

// Finds the end of a head in bytes that come in pieces. Looks at each byte once.
class HeadScanner {
 public:
  explicit HeadScanner(std::size_t head_bytes_max) : head_bytes_max_(head_bytes_max) {}
  // `bytes`: all bytes of the request so far, those of the calls before included.
  HeadState Scan(std::string_view bytes);
  // After kComplete: the head is bytes [begin, end), the blank line included.
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return line_begin_; }

 private:
  const std::size_t head_bytes_max_;
  std::size_t begin_ = 0;  // behind blank lines before the request line (RFC 9112 section 2.2)
  std::size_t line_begin_ = 0;
  std::size_t scanned_ = 0;
  bool first_line_ = true;
};

// `head`: what HeadScanner found. kComplete, kMalformed or kTargetTooLong.
HeadState ParseHead(std::string_view head, RequestHead* out);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_HTTP_REQUEST_HEAD_H_

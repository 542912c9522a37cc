// Stands between the connection and httplib: checks an answer as it comes from the wire, and hands on a plain one.
#ifndef OPENSANDBOX_CLIENT_TRANSPORT_RESPONSE_FILTER_H_
#define OPENSANDBOX_CLIENT_TRANSPORT_RESPONSE_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opensandbox/transport/transport.h"

namespace opensandbox::internal {

// httplib 0.11.4 reads answers in ways that a client can't live with, each measured or read in its source:
//  - the status line goes through a recursive std::regex: a long one overflows the stack;
//  - header values are percent-decoded, empty ones dropped, lines over 8 KiB end the answer;
//  - a body cut between the CR and the LF after a chunk counts as complete;
//  - chunk-size lines may grow without bound, "-2" is a size, trailers are an error;
//  - a Content-Length that is no number counts as 0; 304 waits for a body; 1xx answers but 100 are taken for the final.
// So the head is read here, and httplib sees one with nothing but the status and the framing. Of the body it sees the
// framing in its plain form. No I/O.
class ResponseFilter {
 public:
  enum class State {
    kHead,       // the final answer's head is not complete
    kBody,       // the body is not complete
    kComplete,   // all there
    kMalformed,  // not HTTP, or too large: see complaint()
  };

  // `head_request`: the answer has no body whatever its head says. `head_bytes_max`: for status line and headers,
  // those of interim answers included, and once more for the trailers.
  ResponseFilter(bool head_request, std::size_t head_bytes_max)
      : head_request_(head_request), head_bytes_max_(head_bytes_max) {}

  // Bytes as they came from the connection. What lies behind the end of the answer makes the connection unfit for
  // another one.
  void Feed(std::string_view bytes);
  // The peer has closed the connection in an orderly way. Completes a body that lasts until then.
  void FeedEnd();

  // Moves up to `size` bytes for httplib into `buffer`; 0: nothing there now.
  std::size_t Take(char* buffer, std::size_t size);

  State state() const { return state_; }
  const std::string& complaint() const { return complaint_; }
  bool head_complete() const { return status_ != 0; }
  // Once the head is complete. Fields in their order, equal names kept, values without the blanks around them.
  int status() const { return status_; }
  const std::vector<HeaderField>& headers() const { return headers_; }
  // What Content-Length promises; absent otherwise.
  const std::optional<std::uint64_t>& length() const { return length_; }
  // The connection may carry another exchange.
  bool reusable() const { return state_ == State::kComplete && keep_alive_ && !surplus_; }

 private:
  enum class Framing { kNone, kLength, kChunked, kUntilClose };
  enum class ChunkStep { kSize, kExtension, kData, kDataEnd, kTrailer };

  void Complain(std::string complaint);
  std::size_t FeedHead(std::string_view bytes);
  std::size_t FeedBody(std::string_view bytes);
  std::size_t FeedChunked(std::string_view bytes);
  void FeedChunkSize(char c);
  void EndChunkSize();
  void FeedTrailer(char c);
  void ReadHead();
  bool ReadStatusLine(std::string_view line);
  bool ReadHeaderLine(std::string_view line);
  bool ChooseFraming();
  void Complete() { state_ = State::kComplete; }

  const bool head_request_;
  const std::size_t head_bytes_max_;
  State state_ = State::kHead;
  std::string complaint_;
  std::string head_;                  // the current head, up to now
  std::size_t head_bytes_count_ = 0;  // over all heads
  bool http_1_0_ = false;
  int status_ = 0;
  std::vector<HeaderField> headers_;
  std::optional<std::uint64_t> length_;
  bool keep_alive_ = true;
  bool surplus_ = false;

  Framing framing_ = Framing::kNone;
  std::uint64_t remaining_ = 0;  // of the body (kLength) or of the chunk
  ChunkStep chunk_step_ = ChunkStep::kSize;
  std::size_t line_bytes_count_ = 0;  // of a chunk-size line; digits only while kSize
  std::string line_end_;              // what came of the CRLF after a chunk's data
  std::size_t trailer_bytes_count_ = 0;
  std::size_t trailer_line_bytes_count_ = 0;

  std::string out_;
  std::size_t out_taken_ = 0;
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_TRANSPORT_RESPONSE_FILTER_H_

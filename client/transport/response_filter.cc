#include "client/transport/response_filter.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "client/transport/ascii.h"

namespace opensandbox::internal {
namespace {

// Digits, extension and line end.
constexpr std::size_t kChunkSizeLineMax = 4096;

std::string_view Trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Calls `use` with each element of a comma-separated list.
template <typename Use>
void ForEachElement(std::string_view list, const Use& use) {
  while (true) {
    const std::size_t comma = list.find(',');
    use(Trim(list.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

std::optional<std::uint64_t> ParseLength(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

}  // namespace

void ResponseFilter::Complain(std::string complaint) {
  state_ = State::kMalformed;
  complaint_ = std::move(complaint);
}

void ResponseFilter::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t used = 0;
    switch (state_) {
      case State::kHead:
        used = FeedHead(bytes);
        break;
      case State::kBody:
        used = FeedBody(bytes);
        break;
      case State::kComplete:
        surplus_ = true;
        return;
      case State::kMalformed:
        return;
    }
    bytes.remove_prefix(used);
  }
}

void ResponseFilter::FeedEnd() {
  keep_alive_ = false;
  if (state_ == State::kBody && framing_ == Framing::kUntilClose) Complete();
}

std::size_t ResponseFilter::Take(char* buffer, std::size_t size) {
  const std::size_t count = std::min(size, out_.size() - out_taken_);
  std::memcpy(buffer, out_.data() + out_taken_, count);
  out_taken_ += count;
  if (out_taken_ == out_.size()) {
    out_.clear();
    out_taken_ = 0;
  }
  return count;
}

std::size_t ResponseFilter::FeedHead(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ == State::kHead) {
    const char c = bytes[used++];
    if (++head_bytes_count_ > head_bytes_max_) {
      Complain("the head of the answer is larger than " + std::to_string(head_bytes_max_) + " bytes");
      return used;
    }
    head_ += c;
    // What is no HTTP shows in its first bytes; waiting for the end of its line could take for ever.
    constexpr std::string_view kStart = "HTTP/1.";
    if (head_.size() <= kStart.size() && head_.back() != kStart[head_.size() - 1]) {
      Complain("the answer does not begin with 'HTTP/1.'");
      return used;
    }
    if (c == '\n' && (head_.ends_with("\n\n") || head_.ends_with("\n\r\n"))) ReadHead();
  }
  return used;
}

void ResponseFilter::ReadHead() {
  std::string_view rest = head_;
  bool first = true;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() && !first) break;
    if (!(first ? ReadStatusLine(line) : ReadHeaderLine(line))) return;
    first = false;
  }
  head_.clear();
  if (status_ >= 100 && status_ < 200) {
    if (status_ == 101) return Complain("the answer switches protocols, which nobody asked for");
    status_ = 0;
    headers_.clear();
    return;
  }
  if (!ChooseFraming()) return;
  out_ += "HTTP/1.1 " + std::to_string(status_) + " -\r\n";
  switch (framing_) {
    case Framing::kNone:
      out_ += "Content-Length: 0\r\n";
      break;
    case Framing::kLength:
      out_ += "Content-Length: " + std::to_string(remaining_) + "\r\n";
      break;
    case Framing::kChunked:
      out_ += "Transfer-Encoding: chunked\r\n";
      break;
    case Framing::kUntilClose:
      break;
  }
  out_ += "\r\n";
  state_ = State::kBody;
  if (framing_ == Framing::kNone || (framing_ == Framing::kLength && remaining_ == 0)) Complete();
}

bool ResponseFilter::ReadStatusLine(std::string_view line) {
  // HTTP/1.1 200[ reason]
  const bool valid = line.size() >= 12 && line.starts_with("HTTP/1.") && (line[7] == '0' || line[7] == '1') &&
                     line[8] == ' ' && line[9] >= '1' && IsDigit(line[9]) && IsDigit(line[10]) && IsDigit(line[11]) &&
                     (line.size() == 12 || line[12] == ' ');
  if (!valid) {
    Complain("the answer has no valid status line");
    return false;
  }
  http_1_0_ = line[7] == '0';
  status_ = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  return true;
}

bool ResponseFilter::ReadHeaderLine(std::string_view line) {
  if (HasControlCharacter(line)) {
    status_ = 0;
    Complain("a header of the answer holds a control character");
    return false;
  }
  if (line.front() == ' ' || line.front() == '\t') {  // continues the line before (RFC 9112, 5.2)
    if (!headers_.empty()) {
      headers_.back().value.append(" ").append(Trim(line));
      return true;
    }
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    status_ = 0;
    Complain("the answer has a header line without a valid name");
    return false;
  }
  headers_.push_back({std::string(line.substr(0, colon)), std::string(Trim(line.substr(colon + 1)))});
  return true;
}

// RFC 9112, 6.3 and 9.3.
bool ResponseFilter::ChooseFraming() {
  bool has_transfer_encoding = false;
  bool is_chunked = false;
  bool bad_length = false;
  bool says_close = false;
  bool says_keep_alive = false;
  for (const HeaderField& field : headers_) {
    if (EqualsIgnoringCase(field.name, "Transfer-Encoding")) {
      is_chunked = !has_transfer_encoding && EqualsIgnoringCase(field.value, "chunked");
      has_transfer_encoding = true;
    } else if (EqualsIgnoringCase(field.name, "Content-Length")) {
      ForEachElement(field.value, [&](std::string_view element) {
        const auto length = ParseLength(element);
        if (!length || (length_ && *length_ != *length)) bad_length = true;
        length_ = length;
      });
    } else if (EqualsIgnoringCase(field.name, "Connection")) {
      ForEachElement(field.value, [&](std::string_view element) {
        says_close = says_close || EqualsIgnoringCase(element, "close");
        says_keep_alive = says_keep_alive || EqualsIgnoringCase(element, "keep-alive");
      });
    }
  }
  keep_alive_ = !says_close && (!http_1_0_ || says_keep_alive);
  if (head_request_ || status_ == 204 || status_ == 304) {
    framing_ = Framing::kNone;
    length_.reset();
    return true;
  }
  if (has_transfer_encoding) {
    if (!is_chunked) {
      Complain("the answer has a Transfer-Encoding other than 'chunked'");
      return false;
    }
    // Two framings at once: the chunks count, and nothing more is to be trusted on this connection.
    if (length_ || bad_length) keep_alive_ = false;
    length_.reset();
    framing_ = Framing::kChunked;
    return true;
  }
  if (bad_length) {
    Complain("the answer's Content-Length is no number, or says two things");
    return false;
  }
  if (length_) {
    framing_ = Framing::kLength;
    remaining_ = *length_;
    return true;
  }
  framing_ = Framing::kUntilClose;
  keep_alive_ = false;
  return true;
}

std::size_t ResponseFilter::FeedBody(std::string_view bytes) {
  switch (framing_) {
    case Framing::kNone:
      break;
    case Framing::kLength: {
      const auto used = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), remaining_));
      out_.append(bytes.substr(0, used));
      remaining_ -= used;
      if (remaining_ == 0) Complete();
      return used;
    }
    case Framing::kChunked:
      return FeedChunked(bytes);
    case Framing::kUntilClose:
      out_.append(bytes);
      return bytes.size();
  }
  return bytes.size();
}

std::size_t ResponseFilter::FeedChunked(std::string_view bytes) {
  if (chunk_step_ == ChunkStep::kData) {
    const auto used = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), remaining_));
    out_.append(bytes.substr(0, used));
    remaining_ -= used;
    if (remaining_ == 0) chunk_step_ = ChunkStep::kDataEnd;
    return used;
  }
  const char c = bytes.front();
  switch (chunk_step_) {
    case ChunkStep::kSize:
    case ChunkStep::kExtension:
      FeedChunkSize(c);
      break;
    case ChunkStep::kDataEnd:
      line_end_ += c;
      if (line_end_ == "\r\n") {
        out_ += line_end_;
        line_end_.clear();
        chunk_step_ = ChunkStep::kSize;
      } else if (line_end_ != "\r") {
        Complain("a chunk of the answer is longer than its size says");
      }
      break;
    case ChunkStep::kTrailer:
      FeedTrailer(c);
      break;
    case ChunkStep::kData:
      break;
  }
  return 1;
}

void ResponseFilter::FeedChunkSize(char c) {
  const std::size_t position = line_bytes_count_++;
  if (line_bytes_count_ > kChunkSizeLineMax) return Complain("a chunk-size line of the answer is too long");
  if (c == '\n') return position == 0 ? Complain("a chunk of the answer has no size") : EndChunkSize();
  if (chunk_step_ == ChunkStep::kExtension) return;  // whatever it says
  const char lower = Lower(c);
  const bool is_hex = IsDigit(c) || (lower >= 'a' && lower <= 'f');
  if (is_hex) {
    if (remaining_ >> 60 != 0) return Complain("a chunk of the answer has a size over 64 bits");
    remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(IsDigit(c) ? c - '0' : lower - 'a' + 10);
    return;
  }
  // Blanks before ';' or the line end are tolerated.
  if (position == 0 || (c != ';' && c != '\r' && c != ' ' && c != '\t')) {
    return Complain("a chunk of the answer has a size that is no hexadecimal number");
  }
  chunk_step_ = ChunkStep::kExtension;
}

void ResponseFilter::EndChunkSize() {
  line_bytes_count_ = 0;
  if (remaining_ == 0) {
    chunk_step_ = ChunkStep::kTrailer;
    return;
  }
  char line[24];
  std::snprintf(line, sizeof(line), "%llx\r\n", static_cast<unsigned long long>(remaining_));
  out_ += line;
  chunk_step_ = ChunkStep::kData;
}

// Trailers are read and dropped: nothing that this client uses comes in one.
void ResponseFilter::FeedTrailer(char c) {
  if (++trailer_bytes_count_ > head_bytes_max_) return Complain("the trailers of the answer are too large");
  if (c != '\n') {
    if (c != '\r') ++trailer_line_bytes_count_;
    return;
  }
  if (trailer_line_bytes_count_ > 0) {
    trailer_line_bytes_count_ = 0;
    return;
  }
  out_ += "0\r\n\r\n";
  Complete();
}

}  // namespace opensandbox::internal

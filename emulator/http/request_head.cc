#include "emulator/http/request_head.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace opensandbox::emulator {
namespace {

constexpr std::size_t kBlankLineBytesMax = 64;
// A first line longer than that has a target over its limit, whatever else stands in it.
constexpr std::size_t kRequestLineBytesMax = kTargetBytesMax + 256;

// RFC 9110 section 5.6.2.
bool IsTokenChar(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar); }

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool IsTarget(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) { return IsControl(c) || c == ' '; });
}

bool IsFieldValue(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return IsControl(c) && c != '\t'; });
}

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool EqualsWithoutCase(std::string_view a, std::string_view lower_case) {
  return a.size() == lower_case.size() && std::equal(a.begin(), a.end(), lower_case.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
         });
}

bool ListContains(std::string_view list, std::string_view lower_case) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (EqualsWithoutCase(Trim(list.substr(0, comma)), lower_case)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// Takes the line up to CRLF off `rest`.
std::string_view TakeLine(std::string_view* rest) {
  const std::size_t end = rest->find("\r\n");
  const std::string_view line = rest->substr(0, end);
  rest->remove_prefix(end + 2);
  return line;
}

HeadState ParseRequestLine(std::string_view line, RequestHead* out) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || last == first) return HeadState::kMalformed;
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!IsToken(method) || !IsTarget(target)) return HeadState::kMalformed;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return HeadState::kMalformed;
  if (target.size() > kTargetBytesMax) return HeadState::kTargetTooLong;
  out->http10 = version == "HTTP/1.0";
  out->close = out->http10;
  out->request.method = method;
  out->request.target = target;
  const std::size_t query = target.find('?');
  out->request.path = target.substr(0, query);
  if (query != std::string_view::npos) out->request.query = target.substr(query + 1);
  return HeadState::kComplete;
}

// What a field says about framing. False: nonsense.
bool ReadFraming(std::string_view name, std::string_view value, RequestHead* out) {
  if (EqualsWithoutCase(name, "content-length")) {
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (value.empty() || error != std::errc{} || end != value.data() + value.size()) return false;
    if (out->content_length && *out->content_length != length) return false;
    out->content_length = length;
    out->request.has_body = true;
  } else if (EqualsWithoutCase(name, "transfer-encoding")) {
    if (out->chunked || out->http10 || !EqualsWithoutCase(value, "chunked")) return false;
    out->chunked = true;
    out->request.has_body = true;
  } else if (EqualsWithoutCase(name, "connection")) {
    if (ListContains(value, "close")) out->close = true;
  } else if (EqualsWithoutCase(name, "expect")) {
    if (EqualsWithoutCase(value, "100-continue")) out->expect_continue = true;
  }
  return true;
}

}  // namespace

std::string RequestHead::Framing() const {
  if (!has_content()) return "GET / HTTP/1.1\r\n\r\n";
  std::string text = "POST / HTTP/1.1\r\n";
  // Both: the chunks count (RFC 9112 section 6.3).
  text += chunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: " + std::to_string(*content_length) + "\r\n";
  if (expect_continue) text += "Expect: 100-continue\r\n";
  text += "\r\n";
  return text;
}

HeadState HeadScanner::Scan(std::string_view bytes) {
  while (true) {
    // Garbage, e.g. a TLS handshake, is told at its first byte: a line end might never come.
    if (first_line_ && scanned_ == line_begin_ && scanned_ < bytes.size()) {
      const char c = bytes[scanned_];
      if (!IsTokenChar(c) && c != '\r') return HeadState::kMalformed;
    }
    const std::size_t newline = bytes.find('\n', scanned_);
    if (newline == std::string_view::npos) {
      scanned_ = bytes.size();
      if (first_line_ && scanned_ - line_begin_ > kRequestLineBytesMax) return HeadState::kTargetTooLong;
      return bytes.size() - begin_ > head_bytes_max_ ? HeadState::kHeadTooLong : HeadState::kIncomplete;
    }
    if (newline == line_begin_ || bytes[newline - 1] != '\r') return HeadState::kMalformed;
    if (first_line_ && newline - line_begin_ > kRequestLineBytesMax) return HeadState::kTargetTooLong;
    if (newline + 1 - begin_ > head_bytes_max_) return HeadState::kHeadTooLong;
    const bool blank = newline - line_begin_ == 1;
    scanned_ = line_begin_ = newline + 1;
    if (!first_line_ && blank) return HeadState::kComplete;
    if (!blank) {
      first_line_ = false;
    } else {
      begin_ = line_begin_;
      if (begin_ > kBlankLineBytesMax) return HeadState::kMalformed;
    }
  }
}

HeadState ParseHead(std::string_view head, RequestHead* out) {
  const HeadState state = ParseRequestLine(TakeLine(&head), out);
  if (state != HeadState::kComplete) return state;
  out->request.headers.reserve(8);
  while (true) {
    const std::string_view line = TakeLine(&head);
    if (line.empty()) break;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return HeadState::kMalformed;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = Trim(line.substr(colon + 1));
    // Also refuses folded lines and blanks before the colon, as RFC 9112 section 5 asks.
    if (!IsToken(name) || !IsFieldValue(value) || !ReadFraming(name, value, out)) return HeadState::kMalformed;
    out->request.headers.push_back({std::string(name), std::string(value)});
  }
  if (out->chunked) out->content_length.reset();
  return HeadState::kComplete;
}

}  // namespace opensandbox::emulator

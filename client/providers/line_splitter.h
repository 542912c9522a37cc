// Lines of a byte stream, without holding them.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_LINE_SPLITTER_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_LINE_SPLITTER_H_

#include <cstddef>
#include <string_view>

namespace opensandbox::internal {

// Splits at LF, CRLF and CR, and nowhere else: U+0085, U+2028 and U+2029 are ordinary text inside a JSON string.
// Looks at every byte a fixed number of times and keeps none.
class LineSplitter {
 public:
  // Calls on_piece(bytes) for each non-empty stretch of a line and on_end() at each terminator. The two bytes of a
  // CRLF count as one terminator, also when they come in two calls. Stops early when either returns false.
  template <typename OnPiece, typename OnEnd>
  void Feed(std::string_view bytes, OnPiece on_piece, OnEnd on_end) {
    std::size_t begin = 0;
    std::size_t next_lf = bytes.find('\n');
    // Searched again only when it was passed: otherwise every line would look for a CR up to the end of `bytes`.
    std::size_t next_cr = bytes.find('\r');
    while (begin < bytes.size()) {
      if (after_cr_) {
        after_cr_ = false;
        if (bytes[begin] == '\n') {
          ++begin;
          next_lf = bytes.find('\n', begin);
          continue;
        }
      }
      const std::size_t end = next_lf < next_cr ? next_lf : next_cr;
      const std::string_view piece = bytes.substr(begin, end == std::string_view::npos ? end : end - begin);
      if (!piece.empty() && !on_piece(piece)) return;
      if (end == std::string_view::npos) return;
      begin = end + 1;
      if (end == next_cr) {
        after_cr_ = true;
        next_cr = bytes.find('\r', begin);
      } else {
        next_lf = bytes.find('\n', begin);
      }
      if (!on_end()) return;
    }
  }

 private:
  bool after_cr_ = false;
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_LINE_SPLITTER_H_

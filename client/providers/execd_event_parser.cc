#include "client/providers/execd_event_parser.h"

#include <algorithm>
#include <limits>

namespace opensandbox::internal {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// "retry:", the longest SSE field that is looked for.
constexpr std::size_t kPrefixBytesMax = 6;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

void SkipBlanks(std::string_view& text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
}

bool IsSkippedField(std::string_view name) { return name == "event" || name == "id" || name == "retry"; }

std::uint64_t AddOrMax(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

}  // namespace

ExecdEventParser::ExecdEventParser(std::uint64_t output_bytes_max, Dialect dialect)
    : cap_(output_bytes_max),
      dialect_(dialect),
      kept_bytes_max_(AddOrMax(output_bytes_max, kSideBytesMax)),
      reader_(this) {}

bool ExecdEventParser::Feed(std::string_view bytes) {
  if (over_limit_ || finished_) return false;
  const std::uint64_t raw_bytes_after = raw_bytes_ + bytes.size();
  while (bom_bytes_ < kByteOrderMark.size() && !bytes.empty()) {
    if (bytes.front() == kByteOrderMark[bom_bytes_]) {
      ++bom_bytes_;
      bytes.remove_prefix(1);
      continue;
    }
    if (bom_bytes_ > 0) SkipLine();
    bom_bytes_ = kByteOrderMark.size();
  }
  splitter_.Feed(
      bytes,
      [this](std::string_view piece) {
        ReadLinePiece(piece);
        raw_bytes_ += piece.size();
        CheckWire();
        return !over_limit_;
      },
      [this] {
        EndLine();
        ++raw_bytes_;
        CheckWire();
        return !over_limit_;
      });
  if (!over_limit_) {
    raw_bytes_ = raw_bytes_after;
    CheckWire();
  }
  return !over_limit_;
}

void ExecdEventParser::Finish(bool keep_incomplete) {
  if (finished_) return;
  finished_ = true;
  if (!event_open_) {
    if (!keep_incomplete) EndLine();
  } else if (!over_limit_ && reader_.status() == JsonReader::Status::kDone) {
    Dispatch();
  } else if (keep_incomplete) {
    // What a cut took away was no line that could not be understood: it is not counted.
    if (reader_.had_replacements()) result_.had_invalid_utf8 = true;
    direct_ = nullptr;
    CloseEvent();
  } else {
    DropEvent();
  }
}

void ExecdEventParser::ReadLinePiece(std::string_view piece) {
  while (!piece.empty() && line_mode_ != LineMode::kSkip) {
    if (line_mode_ == LineMode::kJson) return ReadJson(piece);
    if (line_mode_ == LineMode::kPrefix) {
      ReadPrefix(piece);
      continue;
    }
    SkipBlanks(piece);
    if (piece.empty()) return;
    const char c = piece.front();
    if (c == ':') {
      line_mode_ = LineMode::kSkip;
    } else if (c == '{') {
      if (event_open_) DropEvent();  // `data:` lines that never made an object
      line_mode_ = LineMode::kJson;
    } else if (c >= 'a' && c <= 'z') {
      line_mode_ = LineMode::kPrefix;
    } else {
      SkipLine();
    }
  }
}

void ExecdEventParser::ReadPrefix(std::string_view& piece) {
  while (!piece.empty()) {
    const char c = piece.front();
    piece.remove_prefix(1);
    if (c == ':') {
      if (prefix_ == "data") {
        line_is_data_ = true;
        line_mode_ = LineMode::kJson;
      } else if (IsSkippedField(prefix_)) {
        line_mode_ = LineMode::kSkip;
      } else {
        SkipLine();
      }
      return;
    }
    prefix_ += c;
    if (prefix_.size() == kPrefixBytesMax) return SkipLine();
  }
}

void ExecdEventParser::ReadJson(std::string_view piece) {
  while (!piece.empty() && !over_limit_) {
    if (!event_open_ || reader_.status() == JsonReader::Status::kDone) {
      SkipBlanks(piece);
      if (piece.empty()) return;
      if (piece.front() != '{') {
        // Text behind an object spoils it, as it does for every JSON reader.
        if (!event_open_) return SkipLine();
        DropEvent();
        line_mode_ = LineMode::kSkip;
        return;
      }
      if (event_open_) Dispatch();
      if (over_limit_) return;
      StartEvent();
    }
    piece.remove_prefix(reader_.Feed(piece));
    if (reader_.status() == JsonReader::Status::kBad && !over_limit_) {
      DropEvent();
      line_mode_ = LineMode::kSkip;
      return;
    }
  }
}

void ExecdEventParser::EndLine() {
  if (line_mode_ == LineMode::kPrefix) {
    if (prefix_ != "data" && !IsSkippedField(prefix_)) ++result_.skipped_lines_count;
  } else if (event_open_ && reader_.status() == JsonReader::Status::kDone) {
    Dispatch();
  } else if (event_open_ && line_mode_ == LineMode::kJson && line_is_data_) {
    // The rest may come with the next `data:` line; the LF that joins them is not allowed inside a string.
    reader_.Feed("\n");
    if (reader_.status() == JsonReader::Status::kBad) DropEvent();
  } else if (event_open_ && line_mode_ != LineMode::kSkip) {
    DropEvent();
  }
  line_mode_ = LineMode::kStart;
  line_is_data_ = false;
  prefix_.clear();
}

void ExecdEventParser::SkipLine() {
  ++result_.skipped_lines_count;
  line_mode_ = LineMode::kSkip;
}

void ExecdEventParser::Charge(std::uint64_t bytes) {
  event_side_bytes_ += bytes;
  CheckKept();
}

void ExecdEventParser::CheckKept() {
  if (output_bytes_ + event_output_bytes_ > cap_ || kept_bytes() > kept_bytes_max_) over_limit_ = true;
}

void ExecdEventParser::CheckWire() {
  const std::uint64_t paid_for = kWireBytesPerKept * kept_bytes() + kWireBytesPerEvent * output_events_count_;
  if (raw_bytes_ > AddOrMax(kept_bytes_max_, paid_for)) over_limit_ = true;
}

}  // namespace opensandbox::internal

#include "emulator/execution/scripted_run.h"

#include <algorithm>
#include <utility>

namespace opensandbox::emulator {
namespace {

TimePoint Add(TimePoint at, Duration by) {
  if (by < Duration::zero()) by = Duration::zero();
  return at > TimePoint::max() - by ? TimePoint::max() : at + by;
}

Duration Times(Duration length, std::uint64_t count) {
  if (length <= Duration::zero() || count == 0) return Duration::zero();
  const auto most = static_cast<std::uint64_t>(Duration::max() / length);
  return count > most ? Duration::max() : length * static_cast<std::int64_t>(count);
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// A sequence of UTF-8 is at most this long.
constexpr std::size_t kCharacterBytesMax = 4;

TimePoint EndOf(const ExecutionScript& script, TimePoint start) {
  if (script.end == ExecutionEnd::kSilence || script.end == ExecutionEnd::kSilenceWithPings) return TimePoint::max();
  TimePoint at = start;
  for (const ExecutionEvent& event : script.events) {
    if (event.repeat == 0) return TimePoint::max();
    at = Add(Add(at, event.delay), Times(event.every, event.repeat - 1));
  }
  return Add(at, script.delay_before_end);
}

}  // namespace

TextGenerator::TextGenerator(GeneratedText text)
    : bytes_(text.bytes), lines_(std::min(text.lines, text.bytes)), unit_(std::move(text.unit)) {
  if (unit_.empty()) unit_.assign(1, 'x');
  const auto room = std::min<std::uint64_t>(bytes_, kPieceBytesMax);
  while (block_.size() < unit_.size() + static_cast<std::size_t>(room)) block_ += unit_;
}

TextGenerator::Line TextGenerator::LineAt(std::uint64_t position) const {
  if (lines_ == 0) return {.offset = position, .length = bytes_, .newline = false};
  const std::uint64_t length = bytes_ / lines_;
  const std::uint64_t longer_lines = bytes_ % lines_;
  const std::uint64_t longer_bytes = longer_lines * (length + 1);
  if (position < longer_bytes) return {.offset = position % (length + 1), .length = length, .newline = true};
  return {.offset = (position - longer_bytes) % length, .length = length - 1, .newline = true};
}

std::string TextGenerator::Next() {
  std::string piece;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes_ - position_, kPieceBytesMax));
  piece.reserve(size);
  std::uint64_t at = position_;
  while (piece.size() < size) {
    const Line line = LineAt(at);
    const auto text = static_cast<std::size_t>(std::min<std::uint64_t>(line.length - line.offset, size - piece.size()));
    piece.append(block_, static_cast<std::size_t>(line.offset % unit_.size()), text);
    at += text;
    if (line.newline && line.offset + text == line.length && piece.size() < size) {
      piece.push_back('\n');
      ++at;
    }
  }
  if (at < bytes_) {
    // Not the last piece: end it where a reader likes it.
    const std::size_t newline = piece.rfind('\n');
    if (newline != std::string::npos) {
      piece.resize(newline + 1);
    } else {
      const Line line = LineAt(at);
      const char behind =
          line.offset < line.length ? block_[static_cast<std::size_t>(line.offset % unit_.size())] : '\n';
      std::size_t cut = piece.size();
      if (IsContinuation(behind)) {
        do {
          --cut;
        } while (cut > 0 && piece.size() - cut < kCharacterBytesMax && IsContinuation(piece[cut]));
        // Not a character at all (an ill-formed unit): cut anywhere.
        if (cut == 0 || IsContinuation(piece[cut])) cut = piece.size();
      }
      piece.resize(cut);
    }
  }
  position_ += piece.size();
  return piece;
}

ScriptedRun::ScriptedRun(ExecutionScript script, TimePoint start)
    : script_(std::move(script)), ends_at_(EndOf(script_, start)) {
  due_ = Add(start, script_.events.empty() ? script_.delay_before_end : script_.events.front().delay);
}

const ExecutionEvent* ScriptedRun::next_event() const {
  return index_ < script_.events.size() ? &script_.events[index_] : nullptr;
}

ScriptedRun::Piece ScriptedRun::Take() {
  Piece piece;
  piece.due = due_;
  piece.event = next_event();
  if (piece.event == nullptr) return piece;
  if (!piece.event->generated.has_value()) {
    piece.text = piece.event->text;
    Finished();
    return piece;
  }
  const bool one_event = piece.event->generated->one_event;
  piece.begins = !one_event || !inside_event_;
  if (!generator_.has_value()) generator_.emplace(*piece.event->generated);
  piece.text = generator_->Next();
  const bool done = generator_->done();
  piece.ends = !one_event || done;
  inside_event_ = !piece.ends;
  if (done) {
    generator_.reset();
    Finished();
  }
  return piece;
}

void ScriptedRun::Finished() {
  const ExecutionEvent& event = script_.events[index_];
  ++repetition_;
  if (event.repeat == 0 || repetition_ < event.repeat) {
    due_ = Add(due_, event.every);
    return;
  }
  repetition_ = 0;
  ++index_;
  due_ = Add(due_, index_ < script_.events.size() ? script_.events[index_].delay : script_.delay_before_end);
}

}  // namespace opensandbox::emulator

// Plays an execution script: what comes next, and when, in constant memory.
#ifndef OPENSANDBOX_EMULATOR_EXECUTION_SCRIPTED_RUN_H_
#define OPENSANDBOX_EMULATOR_EXECUTION_SCRIPTED_RUN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "emulator/execution/execution.h"
#include "opensandbox/base/time.h"

namespace opensandbox::emulator {

// No piece of generated text is larger.
inline constexpr std::size_t kPieceBytesMax = 64 * 1024;

// Makes a GeneratedText piece by piece. Without `lines` the unit is repeated to the exact size, the last one cut. With
// `lines` each line is the unit repeated, cut and ended by a newline; lines are equally long, the first ones one byte
// longer where the size does not divide; there are never more lines than bytes.
class TextGenerator {
 public:
  explicit TextGenerator(GeneratedText text);
  // The next piece: at most kPieceBytesMax bytes, never cut inside a UTF-8 character of a well-formed unit (unless the
  // size itself cuts one), behind a line end if there is one in reach. Empty at the end.
  std::string Next();
  bool done() const { return position_ == bytes_; }

 private:
  // What is at and behind `position_` until the end of its line.
  struct Line {
    std::uint64_t offset;  // in the line
    std::uint64_t length;  // of the line, without its newline
    bool newline;
  };
  Line LineAt(std::uint64_t position) const;

  std::uint64_t bytes_, lines_;
  std::uint64_t position_ = 0;
  std::string unit_;
  std::string block_;  // the unit again and again, long enough for a piece from any phase of it
};

// The script on a time line that its start fixes: a slow reader does not move what comes later. Pure, not thread-safe.
class ScriptedRun {
 public:
  struct Piece {
    // Null: the end of the script.
    const ExecutionEvent* event = nullptr;
    std::string text;  // stdout and stderr: the text, or a piece of the generated text; otherwise event->text
    // Whether the piece is a whole event (both), or a part of one that is too large for one piece.
    bool begins = true, ends = true;
    TimePoint due{};
  };

  ScriptedRun(ExecutionScript script, TimePoint start);
  ScriptedRun(const ScriptedRun&) = delete;
  ScriptedRun& operator=(const ScriptedRun&) = delete;

  const ExecutionScript& script() const { return script_; }
  // When the next piece comes. At the end of the script: when it ends; asked again it says the same.
  TimePoint due() const { return due_; }
  // The event of the next piece; null at the end.
  const ExecutionEvent* next_event() const;
  // Inside an event of several pieces.
  bool inside_event() const { return inside_event_; }
  Piece Take();
  // When the script ends; TimePoint::max() if it never does (a repetition for ever, or an end in silence).
  TimePoint ends_at() const { return ends_at_; }

 private:
  void Finished();

  const ExecutionScript script_;
  std::size_t index_ = 0;
  std::uint64_t repetition_ = 0;
  bool inside_event_ = false;
  std::optional<TextGenerator> generator_;
  TimePoint due_{}, ends_at_{};
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_EXECUTION_SCRIPTED_RUN_H_

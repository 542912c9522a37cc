// Reads the event stream of execd's POST /code, or of E2B's POST /execute, while it arrives.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_EXECD_EVENT_PARSER_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_EXECD_EVENT_PARSER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/providers/json_reader.h"
#include "client/providers/line_splitter.h"
#include "opensandbox/providers/code_execution_result.h"

namespace opensandbox::internal {

// Lines
//   Split at LF, CRLF and CR. A line is blank, a comment (":"), an SSE field `event:`, `id:` or `retry:` (all skipped),
//   an SSE field `data:`, or bare JSON (what the real execd sends). A `data:` line that is a whole object is an event
//   of its own; one that breaks off between two JSON tokens is joined by LF with the `data:` lines that follow, up to
//   the next blank line. Several objects on one line are several events: execd appends its bare error object without
//   a line end, and a ping may land behind it. A byte order mark at the very start is skipped. Everything else is
//   "not understood": skipped and counted, whatever of it was already read is taken back.
//
// What is limited (`output_bytes_max` = cap)
//   1. Output: the decoded bytes of stdout and stderr text and of result values (a value that is no string counts as
//      its compact JSON). Exactly the cap passes, one byte more does not, and this is counted inside a line that has no
//      end yet: the JSON text is decoded as it comes, into its final place, so an endless line stops at the cap too.
//      Text whose event has not yet shown its type counts as output.
//   2. Memory: output, plus what else is kept (errors, result keys, fields of an unfinished event; 64 bytes for each
//      list or map entry), may not exceed cap + 1 MiB. Nothing else is kept; no line is ever buffered.
//   3. The wire: all raw body bytes, terminators and framing included, minus 6 for each kept byte (the length of an
//      escaped "\u0041") and minus 256 for each event with output, may not exceed cap + 1 MiB. So an endless stream of
//      blank lines, comments, pings or unknown events ends too, and output is never refused for its framing.
//   Over any of the three, over_limit() holds and the parser reads no further.
class ExecdEventParser : private JsonHandler {
 public:
  static constexpr std::uint64_t kSideBytesMax = 1 << 20;
  static constexpr std::uint64_t kEntryBytes = 64;
  static constexpr std::uint64_t kWireBytesPerKept = 6;
  static constexpr std::uint64_t kWireBytesPerEvent = 256;
  // A longer execution id is no id: it would be sent back in a URL.
  static constexpr std::size_t kExecutionIdBytesMax = 256;

  // E2B's stream has the same lines and limits, but its own words: number_of_executions for the count, end_of_execution
  // for the end, the fields of a result in the event itself (all but `type` are kept). Its errors are no end.
  enum class Dialect { kExecd, kE2b };

  explicit ExecdEventParser(std::uint64_t output_bytes_max, Dialect dialect = Dialect::kExecd);
  ExecdEventParser(const ExecdEventParser&) = delete;
  ExecdEventParser& operator=(const ExecdEventParser&) = delete;

  // False once over the limit.
  bool Feed(std::string_view bytes);
  // The stream is over. A last line without terminator counts if it is whole. `keep_incomplete`: keep the text so far
  // of a stdout or stderr event that was cut; otherwise the cut line is skipped and counted. Call it once.
  void Finish(bool keep_incomplete);

  bool over_limit() const { return over_limit_; }
  // execution_complete (E2B: end_of_execution) was seen.
  bool completed() const { return completed_; }
  // An error event or a bare {code, message} object was seen.
  bool failed() const { return failed_; }
  // An execution count was seen: the code was accepted.
  bool counted() const { return result_.execution_count.has_value(); }
  // The run's end was announced.
  bool ended() const { return completed_ || (failed_ && dialect_ == Dialect::kExecd); }
  std::uint64_t events_count() const { return events_count_; }
  std::uint64_t raw_bytes() const { return raw_bytes_; }
  // Text of the init event: what interrupts this run. Empty if there was none.
  const std::string& execution_id() const { return execution_id_; }
  const CodeExecutionResult& result() const { return result_; }
  CodeExecutionResult TakeResult() { return std::move(result_); }

 private:
  enum class LineMode { kStart, kPrefix, kJson, kSkip };
  // Where in the event the next value stands.
  enum class Place { kEvent, kResults, kError, kTraceback };
  enum class Kind { kAbsent, kString, kScalar, kNull, kObject, kArray };
  // One JSON value: a string's text, or the compact JSON of anything else; of a traceback also its items.
  struct Slot {
    Kind kind = Kind::kAbsent;
    std::string text;
    std::vector<std::string> items;
    bool given() const { return kind != Kind::kAbsent && kind != Kind::kNull; }
  };
  using Slots = std::map<std::string, Slot, std::less<>>;

  // JsonHandler.
  void BeginObject() override { Begin(Kind::kObject); }
  void EndObject() override { End('}'); }
  void BeginArray() override { Begin(Kind::kArray); }
  void EndArray() override { End(']'); }
  void BeginString(bool is_key) override;
  void StringPiece(std::string_view text) override;
  void EndString() override;
  void Scalar(std::string_view token) override;

  // Lines.
  void ReadLinePiece(std::string_view piece);
  void ReadPrefix(std::string_view& piece);
  void ReadJson(std::string_view piece);
  void EndLine();
  void SkipLine();

  // Values.
  void Begin(Kind kind);
  void End(char bracket);
  void BeginValue(Kind kind);
  void EndValue();
  std::string* EventTarget(Kind kind);
  bool Wanted(std::string_view key) const;
  void BeforeNestedItem();
  void Append(std::string_view bytes);
  void AppendEscaped(std::string_view text);
  void AppendOutput(std::string& target, std::string_view bytes);

  // Events.
  void StartEvent();
  void CloseEvent();
  void DropEvent();
  void TakeBackText();
  void Dispatch();
  bool DispatchByType();
  bool DispatchText(std::string& target);
  bool DispatchCount();
  void DispatchResult();
  void DispatchError();
  bool DispatchBareError();
  void AddError(ExecutionError error);
  const Slot* Find(const Slots& slots, std::string_view key) const;
  std::string FirstGiven(const Slots& slots, std::string_view key, std::string_view other_key) const;
  static std::vector<std::string> Traceback(const Slot* slot);

  // Limits.
  void Charge(std::uint64_t bytes);
  void CheckKept();
  void CheckWire();
  std::uint64_t kept_bytes() const { return output_bytes_ + event_output_bytes_ + side_bytes_ + event_side_bytes_; }

  const std::uint64_t cap_;
  const Dialect dialect_;
  const std::uint64_t kept_bytes_max_;
  std::uint64_t raw_bytes_ = 0;
  std::uint64_t output_bytes_ = 0;        // of finished events
  std::uint64_t side_bytes_ = 0;          // of finished events
  std::uint64_t event_output_bytes_ = 0;  // of the event under way
  std::uint64_t event_side_bytes_ = 0;
  std::uint64_t output_events_count_ = 0;
  std::uint64_t events_count_ = 0;
  bool over_limit_ = false;
  bool completed_ = false;
  bool failed_ = false;
  bool finished_ = false;
  std::string execution_id_;
  CodeExecutionResult result_;

  LineSplitter splitter_;
  std::size_t bom_bytes_ = 0;  // how much of a byte order mark has been skipped; 3 also means: looked at
  LineMode line_mode_ = LineMode::kStart;
  std::string prefix_;         // the front of a line that may be an SSE field
  bool line_is_data_ = false;  // a `data:` line
  bool event_open_ = false;    // the reader is inside an object, or right behind one that is not dispatched yet

  // The event under way.
  JsonReader reader_;
  std::vector<Place> places_;
  std::string key_;
  Slot type_;
  Slot text_;
  Slots event_;    // its other fields
  Slots results_;  // of the object in `results`
  Slots error_;    // of the object in `error`
  bool has_results_ = false;
  bool has_error_object_ = false;
  std::string* direct_ = nullptr;  // where its text went at once, if its type came before; the text begins at the mark
  std::size_t direct_mark_ = 0;

  // The value under way.
  std::string* target_ = nullptr;  // null: not needed
  bool target_is_output_ = false;
  Slot* traceback_ = nullptr;
  std::size_t nested_depth_ = 0;  // containers open inside it; they are kept as compact JSON
  std::vector<bool> nested_first_;
  bool nested_after_key_ = false;
  bool string_is_key_ = false;
};

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_EXECD_EVENT_PARSER_H_

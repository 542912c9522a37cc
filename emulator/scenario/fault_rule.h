// What goes wrong, and on which requests: one rule under `faults` of a scenario file.
#ifndef OPENSANDBOX_EMULATOR_SCENARIO_FAULT_RULE_H_
#define OPENSANDBOX_EMULATOR_SCENARIO_FAULT_RULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/core/reply_plan.h"
#include "emulator/execution/execution.h"

namespace opensandbox::emulator {

class Regex;  // emulator/scenario/regex.h

// A pattern: "/.../" is a regular expression (searched; see regex.h for its syntax), text with '*' or '?' a glob over
// the whole value, anything else an exact value. With `exact` the text is never taken for more than itself.
struct TextPattern {
  std::string text;
  bool exact = false;
  std::shared_ptr<const Regex> regex;  // compiled by the loader; without it Matches() compiles on each call
};

// Acts only on what is beyond a limit. Exactly one of the three.
struct Quota {
  // More than so many requests within any `per`; those that this rule refused do not count.
  std::optional<std::uint64_t> requests;
  Duration per{0};
  std::optional<std::uint64_t> live;     // so many sandboxes live already
  std::optional<std::uint64_t> streams;  // so many streams of the sandbox are open already
};

// When a fault rule acts. All given conditions must hold; of nth/first/every/probability at most one is given.
struct FaultTrigger {
  std::string operation;  // operation::k..., or "*"
  std::optional<TextPattern> sandbox_image;
  std::map<std::string, TextPattern> header;
  std::vector<std::string> without_header;  // at least one of them is missing
  std::optional<TextPattern> body;
  std::optional<std::uint64_t> nth;    // the n-th request that fits, from 1
  std::optional<std::uint64_t> first;  // the first n
  std::optional<std::uint64_t> every;  // each n-th
  std::optional<double> probability;
  std::optional<Duration> from, until;  // window since the scenario was loaded
  std::optional<Quota> over;
};

// kLate: not when the request comes but `commit_after` later, whatever was answered.
enum class Commit { kYes, kNo, kLate };

// A time, the same for each reply or drawn anew for each.
struct Latency {
  enum class Kind { kFixed, kUniform, kLognormal };
  Kind kind = Kind::kFixed;
  Duration from{0};    // kFixed: the time; kUniform: the least
  Duration to{0};      // kUniform: the most
  Duration median{0};  // kLognormal: half of the draws are below it
  double sigma = 0;    // kLognormal: spread of the logarithm; about 68% within a factor of e^sigma
  Duration max{0};     // kLognormal: longer draws are cut to it
};

struct Respond {
  int status = 200;
  std::vector<Header> headers;
  std::optional<std::string> body;         // sent as it is
  std::optional<GeneratedText> generated;  // instead of `body`: made while it is sent
  std::string content_type = "application/json";
  std::optional<std::string> retry_after;  // header value, already formatted
  bool retry_after_reset = false;          // with a quota of requests: the whole seconds until one is free
};

// The provider's own refusals.
enum class AuthFailure { kMissingKey, kInvalidKey };

struct CutFault {
  // Where in the framing of a chunk the cut at an event is.
  enum class Framing { kWhole, kSize, kData, kCrlf };
  // Exactly one place: before_headers, after_headers, at_byte alone, or at_event.
  bool before_headers = false;
  bool after_headers = false;
  std::optional<std::uint64_t> at_byte;   // payload bytes of the body; with at_event: bytes of the event behind it
  std::optional<std::uint64_t> at_event;  // events wholly sent before (streams): 3 = after the third
  // With at_event: in the first character of more than one byte that comes after those events, one byte of it sent.
  bool in_character = false;
  // With at_event: the chunk of the event behind breaks off inside its size line, inside its data (behind at_byte
  // bytes, or half of them), or before the line end that closes it.
  Framing framing = Framing::kWhole;
  Ending how = Ending::kFin;
};

// Which events of a stream. All conditions must hold.
struct EventSelector {
  std::uint64_t first = 1;           // places, from 1
  std::uint64_t last = UINT64_MAX;   // the last one is selected too
  std::uint64_t every = 1;           // of these the 1st, the 1+every-th ...
  std::optional<TextPattern> match;  // of the bytes of the event's (first) piece
};

struct DuplicateFault {
  EventSelector events;
  std::uint64_t times = 1;  // more
};

struct ReorderFault {
  std::uint64_t event = 1;   // this one, by its place
  std::uint64_t behind = 2;  // is sent behind that one
};

// Bytes that are no event, in front of each selected event.
struct InsertFault {
  EventSelector events;
  std::string bytes;
  bool unframed = false;  // not even in a chunk: what reads the chunks finds garbage for a size
};

// Several pieces in one chunk and one packet, when the last of them is there.
struct CoalesceFault {
  EventSelector events;                // those from the first to the last selected one
  std::optional<std::uint64_t> bytes;  // each time so many bytes have come together
};

// One piece in several chunks, each in a packet of its own.
struct SplitFault {
  EventSelector events;
  // Exactly one of these.
  std::optional<std::uint64_t> bytes;     // pieces of so many
  std::optional<std::uint64_t> at_byte;   // two pieces, the first of so many
  std::optional<std::uint64_t> from_end;  // two pieces, the last of so many
  bool in_characters = false;             // at each byte inside a character of several bytes
  Duration gap{0};                        // between two pieces
};

// The reply rests, then goes on.
struct StallFault {
  std::optional<std::uint64_t> at_event;  // behind so many whole events
  std::optional<std::uint64_t> at_byte;   // behind so many bytes of the body; with at_event of the event behind
  Latency time;
};

// At most so much in each `every`.
struct ThrottleFault {
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> events;
  Duration every = std::chrono::seconds(1);
};

// A header field of the reply that goes out.
struct HeaderEdit {
  std::string name;
  std::vector<std::string> values;  // none: taken away
};

struct FaultRule {
  std::string id;
  FaultTrigger on;
  Commit commit = Commit::kYes;  // whether the operation takes effect; default: yes, but no with `respond` and `auth`
  Duration commit_after{0};      // with kLate
  std::optional<Respond> respond;
  std::optional<AuthFailure> auth;
  std::vector<HeaderEdit> headers;
  std::optional<std::string> patch;  // JSON merge patch (RFC 7396) of a JSON body
  std::optional<EventSelector> drop;
  std::optional<DuplicateFault> duplicate;
  std::optional<ReorderFault> reorder;
  std::optional<InsertFault> insert;
  std::optional<CoalesceFault> coalesce;
  std::optional<SplitFault> split;
  std::optional<CutFault> cut;
  std::optional<StallFault> stall;
  std::optional<ThrottleFault> throttle;
  std::optional<std::string> before_status_line;  // bytes in front of everything
  std::optional<Latency> delay;                   // before the head
  std::optional<Latency> delay_body;              // between the head and the body
  // What happens behind the last payload byte instead of a proper end. kSilence: no terminator, and the connection is
  // never served again. (A request that is never answered: a cut before the headers with kSilence.)
  std::optional<Ending> ending;
  std::optional<std::string> append;  // raw text put before the end of a stream, e.g. a bare error object
  bool may_stay_unused = false;       // exempt from `faults: allConsumed`
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SCENARIO_FAULT_RULE_H_

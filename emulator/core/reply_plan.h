// What will be sent, when, and how it ends: the one thing that surfaces produce, faults transform and http/ executes.
#ifndef OPENSANDBOX_EMULATOR_CORE_REPLY_PLAN_H_
#define OPENSANDBOX_EMULATOR_CORE_REPLY_PLAN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/core/http_message.h"
#include "opensandbox/base/clock.h"

namespace opensandbox::emulator {

// How a reply, or the connection under it, ends.
enum class Ending {
  kComplete,      // as HTTP wants it; the connection stays open for the next request
  kClean,         // a well-formed end (chunk terminator included), then FIN
  kNoTerminator,  // FIN without the chunk terminator, or before Content-Length bytes
  kFin,           // FIN at once where the reply stands
  kRst,           // RST at once where the reply stands
  kSilence,       // nothing more; the connection stays open until the client closes it or the server stops
};
std::string_view ToString(Ending ending);

// The next thing a body source wants done.
struct BodyStep {
  enum class Kind {
    kBytes,  // send `bytes` (one HTTP chunk when chunked; with `flush` in a packet of its own)
    kWait,   // call Next() again at `until`, or when the waker is woken; absent `until`: only the waker
    kEnd,    // the body is over
  };
  Kind kind = Kind::kEnd;
  std::string bytes;
  bool flush = true;
  bool raw = false;  // not framed as a chunk: for broken framing
  // Where kBytes stand in the stream's events, so that faults can count whole events: most steps are one event (both
  // true); an event too large for one step begins with a step of (true, false), goes on with (false, false) and ends
  // with (false, true). Bytes outside of any event (an appended object without a line end) are (false, false).
  bool begins_event = true;
  bool ends_event = true;
  std::optional<TimePoint> until;
  // Of kWait: nothing is planned any more, `until` is only when something else may end the body. A server that stops
  // does not wait for it.
  bool silent = false;
  Ending ending = Ending::kComplete;

  static BodyStep Bytes(std::string bytes);
  static BodyStep Wait(std::optional<TimePoint> until);
  static BodyStep Silence(std::optional<TimePoint> until);
  static BodyStep End(Ending ending = Ending::kComplete);
};

// A body made while it is sent, in constant memory. Called from the connection's thread only; what it shares with
// other threads it locks itself.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Called once before the first Next(): wake this to have Next() called before `until`.
  virtual void BindWaker(std::shared_ptr<Waker> waker) { (void)waker; }
  virtual BodyStep Next(TimePoint now, WallTime wall_now) = 0;
  // The client closed the connection; no Next() follows.
  virtual void ClientClosed(TimePoint now) { (void)now; }
};

// Cuts a reply short at a place counted in bytes of the body as framed (chunk headers included do not count: payload
// bytes only).
struct Cut {
  enum class At {
    kBeforeHead,  // not one byte of the reply
    kAfterHead,   // status line and headers, not one byte of the body
    kBodyByte,    // after `bytes` payload bytes
  };
  At at = At::kBeforeHead;
  std::uint64_t bytes = 0;
  Ending ending = Ending::kRst;  // kNoTerminator, kFin, kRst or kSilence
};

// How the exchange went, told when it is over.
struct ExchangeEnd {
  int status = 0;  // of the reply sent; 0: no head was sent
  std::uint64_t head_bytes = 0;
  std::uint64_t body_bytes = 0;  // payload bytes handed to the socket
  std::optional<Ending> ending;  // the planned end that happened; absent if the client was first
  bool client_closed = false;    // the client closed before the planned end
  TimePoint at{};                // when it ended
};

// Move-only.
struct ReplyPlan {
  int status = 200;
  std::string reason;           // empty: the standard phrase
  std::vector<Header> headers;  // exactly these, in this order; framing headers are the surface's business
  std::string body;             // used if `source` is null
  std::unique_ptr<BodySource> source;
  bool chunked = false;               // frame the body in chunks (the headers say so already)
  Ending ending = Ending::kComplete;  // of a fixed body; a source says its own

  Duration delay_before_head{0};
  Duration delay_before_body{0};
  std::string garbage_before_head;  // raw bytes in front of the status line
  std::optional<Cut> cut;
  // Called exactly once, from the connection's thread, also if nothing could be sent.
  std::function<void(const ExchangeEnd&)> on_end;

  // Replaces the body and, if there is one, the value of Content-Length (any case).
  void SetBody(std::string new_body);
  Header* Find(std::string_view name);
};

// The phrase of RFC 9110 ("Not Found"); empty if unknown.
std::string_view StandardReason(int status);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CORE_REPLY_PLAN_H_

// One accepted connection: its socket, what was read ahead, what waits to be sent, its clock, and how it is closed.
#ifndef OPENSANDBOX_EMULATOR_HTTP_CONNECTION_STREAM_H_
#define OPENSANDBOX_EMULATOR_HTTP_CONNECTION_STREAM_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opensandbox/base/clock.h"

namespace opensandbox::emulator {

struct ConnectionAddresses {
  std::string peer;   // "127.0.0.1:50412"
  std::string local;  // "127.0.0.1:8080"
  ConnectionActivity::Key key;
};
// Of a connected TCP socket.
ConnectionAddresses AddressesOf(int fd);

// The handle by which other threads see a connection and end it. Thread-safe.
class ConnectionControl {
 public:
  enum class State {
    kBusy,    // a request is being read, handled or answered
    kIdle,    // between requests
    kSilent,  // held open without anything more to send: Ending::kSilence, BodyStep::silent
  };

  // `stopping` is the server's: once it is set, a connection that comes to rest ends.
  ConnectionControl(int fd, const std::atomic<bool>& stopping) : fd_(fd), stopping_(stopping) {}
  // Whatever the connection's thread waits for ends now: its reads see the end of the stream. Nothing is sent.
  void EndNow();
  bool end_now() const { return end_now_; }
  void SetState(State state) {
    state_ = state;
    // Behind the store: a server that reads the state before it has already set `stopping`.
    if (state != State::kBusy && stopping_) EndNow();
  }
  State state() const { return state_; }

 private:
  friend class ConnectionStream;
  // After it EndNow() does not touch the descriptor, whose number may soon be another connection's.
  void Forget();

  std::mutex mutex_;
  int fd_;
  const std::atomic<bool>& stopping_;
  std::atomic<bool> end_now_ = false;
  std::atomic<State> state_ = State::kBusy;
};

enum class IoResult {
  kOk,
  kDeadline,
  kWoken,
  kClosed,   // by the client: end of stream, reset, or nobody there to receive
  kStopped,  // ConnectionControl::EndNow()
};

// Used by the connection's thread only. From construction to destruction that thread is a participant of the
// connection's clock, and the clock's ConnectionActivity, if any, knows the connection.
class ConnectionStream {
 public:
  // Takes over `fd`, a non-blocking connected socket.
  ConnectionStream(int fd, std::shared_ptr<ConnectionControl> control, std::shared_ptr<Clock> clock);
  ~ConnectionStream();
  ConnectionStream(const ConnectionStream&) = delete;
  ConnectionStream& operator=(const ConnectionStream&) = delete;

  const ConnectionAddresses& addresses() const { return addresses_; }
  ConnectionControl& control() { return *control_; }

  // --- time ------------------------------------------------------------------------------------------------------
  Clock& clock() { return *clock_; }
  // From now on all waits run on `clock`. Its ConnectionActivity learns what happened so far; those of the clocks
  // before it stay informed until the end.
  void UseClock(std::shared_ptr<Clock> clock);
  // Ends a Wait() early. Made when first asked for; another one after UseClock().
  std::shared_ptr<Waker> waker();

  // --- reading ---------------------------------------------------------------------------------------------------
  // Bytes read and not consumed. Valid until the next call that reads.
  std::string_view buffered() const { return std::string_view(in_).substr(in_begin_); }
  void Consume(std::size_t bytes);
  // Waits until more bytes are buffered: kOk, kDeadline, kClosed, kStopped.
  IoResult ReadMore(std::optional<TimePoint> deadline, const char* label);

  // --- writing ---------------------------------------------------------------------------------------------------
  // Appends to what Flush() will send. `counter`, unless null, grows as the kernel takes these bytes; it must live
  // until they are sent or the stream is closed.
  void Queue(std::string_view bytes, std::uint64_t* counter);
  std::size_t queued() const { return out_.size(); }
  // Sends all that is queued, waiting while the client does not read: kOk, kClosed, kStopped.
  IoResult Flush();

  // --- waiting ---------------------------------------------------------------------------------------------------
  // Until `until` (absent: for ever), the waker's wake (if `use_waker`) or the client's close. Bytes that arrive
  // meanwhile are kept for later, up to a bound.
  IoResult Wait(std::optional<TimePoint> until, bool use_waker, const char* label);
  // Until the client closes (kClosed) or the server ends the connection (kStopped); bytes that arrive are dropped.
  IoResult WaitClosed(const char* label);

  // --- closing; each at most once ----------------------------------------------------------------------------------
  // FIN behind everything sent so far. With `linger`, what the client still sends is read and dropped for a while, so
  // that it gets to read the reply: closing with unread bytes would reset the connection under it.
  void CloseFin(bool linger = false);
  // RST behind everything sent so far.
  void CloseRst();

 private:
  struct Segment {
    std::size_t bytes;
    std::uint64_t* counter;
  };
  struct Watcher {
    std::shared_ptr<Clock> clock;
    ConnectionActivity* activity;
  };

  // The only two functions that move bytes; TLS will go here.
  ssize_t RawReceive(char* data, std::size_t size);
  ssize_t RawSend(const char* data, std::size_t size);

  IoResult ReceiveIntoBuffer();  // kOk also if there was nothing
  IoResult ClosedOrStopped() const { return control_->end_now() ? IoResult::kStopped : IoResult::kClosed; }
  bool HungUp() const;
  void CountSent(std::size_t bytes);
  void Watch(std::shared_ptr<Clock> clock);
  void ReportClosed();
  void Release();

  int fd_;
  const std::shared_ptr<ConnectionControl> control_;
  const ConnectionAddresses addresses_;
  std::shared_ptr<Clock> clock_;
  std::shared_ptr<Waker> waker_;
  std::vector<Watcher> watchers_;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::string in_;
  std::size_t in_begin_ = 0;
  bool end_of_input_ = false;
  bool drop_input_ = false;
  std::string out_;
  std::vector<Segment> segments_;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_HTTP_CONNECTION_STREAM_H_

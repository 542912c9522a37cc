// A run of code or of a command inside a sandbox, and the event stream that tells of it (wire reference 2.3, 2.6).
#ifndef OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_STREAM_H_
#define OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_STREAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/core/reply_plan.h"
#include "emulator/execution/scripted_run.h"
#include "emulator/service/tenant.h"

namespace opensandbox::emulator {

// Guarded by its tenant's mutex, which Next() and BindWaker() take themselves; the tenant must outlive it. It is
// registered in the sandbox's ExecdState::running; a run that is no longer there (its sandbox has ended, the tenant was
// reset) has lost its daemon: the stream breaks off without a chunk terminator, in the middle of whatever it was.
//
// What comes when:
//  - `init` and `ping` at once, a `ping` every 3 s while the stream is open, output when the script says so. A client
//    that reads slowly finds the events later, but with the times they would have had.
//  - a kernel run tells an error as `status` and `error`. If the error is the last event and the script ends with it,
//    execution_complete comes before both, as in most recorded runs; a script that has its own `status` in front of
//    the error gets execution_complete behind it, which was recorded too.
//  - a kernel run's result has its execution_count in front, unless the script says one itself.
//  - a command's output comes in lines without their ends, its error is its last event, and there is no status.
//  - SQL has no status, no count, and an error without a traceback.
//  - while the sandbox is Paused (Pausing, Resuming) its processes are frozen and the stream says nothing.
class RunningExecution {
 public:
  enum class Kind { kKernel, kCommand, kSql };
  struct Options {
    Tenant* tenant = nullptr;
    std::string sandbox_id;
    std::string execution_id;  // what `init` says: the context's id, or 32 hex digits
    Kind kind = Kind::kKernel;
    std::int64_t execution_count = 0;
    ExecutionScript script;
    TimePoint start{};
  };
  explicit RunningExecution(Options options);

  // --- with the tenant's lock held -----------------------------------------------------------------------------------
  TimePoint ends_at() const { return run_.ends_at(); }
  // Ends the run as execd does: KeyboardInterrupt in a kernel, SIGTERM to a command.
  void Interrupt(TimePoint now);
  void Wake();

  // --- from the connection's thread, without the lock ----------------------------------------------------------------
  void BindWaker(std::shared_ptr<Waker> waker);
  BodyStep Next(TimePoint now, WallTime wall_now);

 private:
  BodyStep NextLocked(TimePoint now, WallTime wall_now);
  // The stream of a sandbox that has died by itself.
  BodyStep NextDead(const Sandbox& sandbox);
  // The steps that wait to be sent; false if there are none.
  bool Pop(BodyStep* step);
  void Queue(std::string bytes, bool begins = true, bool ends = true);
  void QueueStart();
  void QueuePiece(const ScriptedRun::Piece& piece);
  void QueueOutput(const ScriptedRun::Piece& piece, std::string_view type);
  void QueueLine(std::string_view line, std::string_view type, TimePoint due);
  void QueueError(const ExecutionEvent& event, TimePoint due);
  void QueueComplete(TimePoint at);
  void QueueInterrupted();
  void QueueEnd(TimePoint at);
  bool IsRegistered() const;
  void Unregister();
  // The instant of the wall clock at `at`, which has passed.
  WallTime WallAt(TimePoint at) const { return wall_now_ - (now_ - at); }

  const Options options_;  // without the script
  ScriptedRun run_;
  std::shared_ptr<Waker> waker_;
  std::deque<BodyStep> steps_;
  TimePoint next_ping_{};
  std::uint64_t events_sent_ = 0;  // whole ones
  bool started_ = false;
  bool inside_output_ = false;  // between the head and the tail of an event too large for one piece
  bool completed_ = false;      // execution_complete was sent
  bool failed_ = false;         // a command's error was sent: nothing may follow
  bool status_said_ = false;    // the event before was a status
  bool count_said_ = false;     // the event before was an execution_count
  std::optional<TimePoint> interrupted_;
  std::optional<Ending> over_;  // what ends the stream when steps_ is empty
  bool was_ping_ = false;       // so that pings can't crowd out output, nor output pings
  TimePoint now_{};
  WallTime wall_now_{};
};

// Takes the run out of `running`; an ended command is remembered for a while. With the tenant's lock held.
void EndRun(ExecdState& state, const std::string& execution_id, bool command);

// The body of the answer to a run. Destroying it leaves the run registered: it goes on without a listener.
std::unique_ptr<BodySource> MakeExecutionStream(std::shared_ptr<RunningExecution> run);

// For the store's listener, with the tenant's lock held: a sandbox has changed its state or has ended. Its streams look
// again; if it has ended, what execd kept for it is forgotten.
void WakeExecutions(Tenant& tenant, const Sandbox& sandbox);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_OPENSANDBOX_EXECD_STREAM_H_

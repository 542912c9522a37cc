#include "emulator/opensandbox/execd_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "emulator/opensandbox/execd_event.h"
#include "emulator/opensandbox/execd_json.h"

namespace opensandbox::emulator {
namespace {

constexpr Duration kPingInterval = std::chrono::seconds(3);
// So many ended commands are remembered per sandbox.
constexpr std::size_t kEndedCommandsMax = 1000;

bool IsFrozen(const std::string& name) {
  return name == state::kPaused || name == state::kPausing || name == state::kResuming;
}

TimePoint Min(TimePoint a, const std::optional<TimePoint>& b) { return b.has_value() ? std::min(a, *b) : a; }

std::optional<TimePoint> OrNever(TimePoint at) {
  return at == TimePoint::max() ? std::nullopt : std::optional<TimePoint>(at);
}

class ExecutionStream : public BodySource {
 public:
  explicit ExecutionStream(std::shared_ptr<RunningExecution> run) : run_(std::move(run)) {}
  void BindWaker(std::shared_ptr<Waker> waker) override { run_->BindWaker(std::move(waker)); }
  BodyStep Next(TimePoint now, WallTime wall_now) override { return run_->Next(now, wall_now); }

 private:
  const std::shared_ptr<RunningExecution> run_;
};

RunningExecution::Options TakeScript(RunningExecution::Options& options) {
  RunningExecution::Options rest = options;
  rest.script = {};
  return rest;
}

}  // namespace

RunningExecution::RunningExecution(Options options)
    : options_(TakeScript(options)), run_(std::move(options.script), options.start), next_ping_(options.start) {}

void RunningExecution::Interrupt(TimePoint now) {
  if (!interrupted_.has_value()) interrupted_ = now;
  // The context is free at this very instant, not when the stream's thread comes round to it.
  Unregister();
  Wake();
}

void RunningExecution::Wake() {
  if (waker_ != nullptr) waker_->Wake();
}

void RunningExecution::BindWaker(std::shared_ptr<Waker> waker) {
  std::lock_guard lock(options_.tenant->mutex);
  waker_ = std::move(waker);
}

BodyStep RunningExecution::Next(TimePoint now, WallTime wall_now) {
  std::lock_guard lock(options_.tenant->mutex);
  return NextLocked(now, wall_now);
}

BodyStep RunningExecution::NextLocked(TimePoint now, WallTime wall_now) {
  now_ = now;
  wall_now_ = wall_now;
  options_.tenant->AdvanceTo(now);
  const Sandbox* sandbox = options_.tenant->store->FindAny(options_.sandbox_id);
  if (sandbox != nullptr && sandbox->died) return NextDead(*sandbox);
  if (sandbox != nullptr && sandbox->end) sandbox = nullptr;
  if (sandbox == nullptr || (!over_.has_value() && !interrupted_.has_value() && !IsRegistered()))
    return BodyStep::End(Ending::kNoTerminator);
  const bool frozen = IsFrozen(sandbox->state);
  if (!frozen && sandbox->state != state::kRunning) return BodyStep::End(Ending::kNoTerminator);
  // When the sandbox itself may change without anybody's request.
  TimePoint sandbox_due = Min(Min(TimePoint::max(), sandbox->expires), sandbox->stage_due);
  sandbox_due = Min(Min(sandbox_due, sandbox->death_due), options_.tenant->NextLate());
  if (frozen) return BodyStep::Silence(OrNever(sandbox_due));

  if (const auto& death = sandbox->behaviour.death; death && death->after_events == events_sent_) {
    Sandbox* dying = options_.tenant->store->Find(options_.sandbox_id);
    options_.tenant->store->Die(*dying, now);
    return NextDead(*dying);
  }
  BodyStep step;
  if (Pop(&step)) return step;
  if (over_.has_value()) return BodyStep::End(*over_);
  if (!started_) {
    started_ = true;
    QueueStart();
    Pop(&step);
    return step;
  }
  if (interrupted_.has_value()) {
    QueueInterrupted();
    Pop(&step);
    return step;
  }
  if (inside_output_) {
    QueuePiece(run_.Take());
    Pop(&step);
    return step;
  }

  const bool silent =
      run_.next_event() == nullptr && run_.due() <= now &&
      (run_.script().end == ExecutionEnd::kSilence || run_.script().end == ExecutionEnd::kSilenceWithPings);
  const bool pings = !silent || run_.script().end == ExecutionEnd::kSilenceWithPings;
  const bool output_due = !silent && run_.due() <= now;
  // Another thread of the daemon sends the pings: one that is late comes in between the output. At the same instant
  // the output goes first.
  if (pings && next_ping_ <= now && (!output_due || (next_ping_ < now && !was_ping_))) {
    Queue(ExecdEvent{.type = "ping", .text = "pong", .at = WallAt(next_ping_)}.Line());
    // A ticker that nobody listened to drops ticks.
    next_ping_ += kPingInterval * (1 + (now - next_ping_) / kPingInterval);
    was_ping_ = true;
    Pop(&step);
    return step;
  }
  if (!output_due) {
    if (silent && !pings) return BodyStep::Silence(OrNever(sandbox_due));
    TimePoint until = silent ? TimePoint::max() : run_.due();
    if (pings) until = std::min(until, next_ping_);
    return BodyStep::Wait(OrNever(std::min(until, sandbox_due)));
  }
  was_ping_ = false;
  const TimePoint due = run_.due();
  if (run_.next_event() == nullptr) {
    QueueEnd(due);
  } else {
    QueuePiece(run_.Take());
  }
  if (Pop(&step)) return step;
  if (over_.has_value()) return BodyStep::End(*over_);
  return BodyStep::Wait(now);  // an event without anything to show: go on at once, but let others have the lock
}

BodyStep RunningExecution::NextDead(const Sandbox& sandbox) {
  switch (sandbox.behaviour.death->face) {
    case DeathFace::kNotFound:
    case DeathFace::kGone:
    case DeathFace::kBadGateway:
      break;
    case DeathFace::kReset:
      return BodyStep::End(Ending::kRst);
    case DeathFace::kBlackHole:
      return BodyStep::End(Ending::kSilence);
    case DeathFace::kCleanEnd:
      return BodyStep::End(Ending::kComplete);
    case DeathFace::kHealthyPing:
      // It still exists: a delete or its timeout ends it.
      if (sandbox.end) break;
      if (now_ < next_ping_) {
        const TimePoint end = Min(Min(TimePoint::max(), sandbox.expires), options_.tenant->NextLate());
        return BodyStep::Silence(std::min(next_ping_, end));
      }
      BodyStep step = BodyStep::Bytes(ExecdEvent{.type = "ping", .text = "pong", .at = WallAt(next_ping_)}.Line());
      next_ping_ += kPingInterval * (1 + (now_ - next_ping_) / kPingInterval);
      return step;
  }
  return BodyStep::End(Ending::kNoTerminator);
}

bool RunningExecution::Pop(BodyStep* step) {
  if (steps_.empty()) return false;
  *step = std::move(steps_.front());
  steps_.pop_front();
  if (step->ends_event) ++events_sent_;
  return true;
}

void RunningExecution::Queue(std::string bytes, bool begins, bool ends) {
  BodyStep step = BodyStep::Bytes(std::move(bytes));
  step.begins_event = begins;
  step.ends_event = ends;
  steps_.push_back(std::move(step));
}

void RunningExecution::QueueStart() {
  const WallTime at = WallAt(options_.start);
  Queue(ExecdEvent{.type = "init", .text = options_.execution_id, .at = at}.Line());
  Queue(ExecdEvent{.type = "ping", .text = "pong", .at = at}.Line());
  next_ping_ = options_.start + kPingInterval;
}

void RunningExecution::QueuePiece(const ScriptedRun::Piece& piece) {
  using Event = ExecutionEvent::Kind;
  const ExecutionEvent& event = *piece.event;
  const bool status_said = std::exchange(status_said_, false);
  const bool count_said = std::exchange(count_said_, false);
  const bool kernel = options_.kind == Kind::kKernel;
  switch (event.kind) {
    case Event::kStdout:
      return QueueOutput(piece, "stdout");
    case Event::kStderr:
      return QueueOutput(piece, "stderr");
    case Event::kExecutionCount:
      count_said_ = true;
      return Queue(
          ExecdEvent{.type = "execution_count", .execution_count = event.execution_count, .at = WallAt(piece.due)}
              .Line());
    case Event::kResult:
      if (kernel && !count_said) {
        Queue(
            ExecdEvent{.type = "execution_count", .execution_count = options_.execution_count, .at = WallAt(piece.due)}
                .Line());
      }
      return Queue(ExecdEvent{.type = "result", .at = WallAt(piece.due), .results = &event.results}.Line());
    case Event::kStatus:
      status_said_ = true;
      return Queue(ExecdEvent{.type = "status", .text = event.text, .at = WallAt(piece.due)}.Line());
    case Event::kError: {
      if (kernel && !status_said) {
        const bool last = run_.next_event() == nullptr && run_.script().end == ExecutionEnd::kComplete &&
                          run_.script().delay_before_end <= Duration::zero();
        if (last) QueueComplete(piece.due);
        Queue(ExecdEvent{.type = "status", .text = "error", .at = WallAt(piece.due)}.Line());
      }
      QueueError(event, piece.due);
      if (!kernel) failed_ = true;
      return;
    }
    case Event::kBareError:
      return Queue(BareErrorObject(event.error_name, event.error_value), false, false);
    case Event::kRaw: {
      const bool whole = event.text.size() >= 2 && event.text.compare(event.text.size() - 2, 2, "\n\n") == 0;
      return Queue(event.text, whole, whole);
    }
  }
}

void RunningExecution::QueueOutput(const ScriptedRun::Piece& piece, std::string_view type) {
  if (piece.begins && piece.ends) {
    if (options_.kind != Kind::kCommand) {
      return Queue(ExecdEvent{.type = type, .text = piece.text, .at = WallAt(piece.due)}.Line());
    }
    // A command's output comes line by line; LF, CR and CRLF end a line.
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      const std::size_t end = rest.find_first_of("\r\n");
      QueueLine(rest.substr(0, end), type, piece.due);
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + (rest.compare(end, 2, "\r\n") == 0 ? 2 : 1));
    }
    return;
  }
  // One event of any size, made while it is sent.
  std::string bytes;
  bytes.reserve(piece.text.size() + 64);
  if (piece.begins) bytes = EventHead(type);
  std::string_view text = piece.text;
  if (piece.ends && options_.kind == Kind::kCommand && !text.empty() && text.back() == '\n') text.remove_suffix(1);
  AppendGoEscaped(bytes, text);
  if (piece.ends) bytes += EventTail(WallAt(piece.due));
  inside_output_ = !piece.ends;
  Queue(std::move(bytes), piece.begins, piece.ends);
}

void RunningExecution::QueueLine(std::string_view line, std::string_view type, TimePoint due) {
  Queue(ExecdEvent{.type = type, .text = line.empty() ? "\n" : line, .at = WallAt(due)}.Line());
}

void RunningExecution::QueueError(const ExecutionEvent& event, TimePoint due) {
  // A real error of a kernel or a command always has a traceback; a script may leave it out.
  std::vector<std::string> traceback = event.traceback;
  if (traceback.empty() && options_.kind != Kind::kSql) {
    const bool command = event.error_name == "CommandExecError";
    traceback.push_back(command ? "exit status " + event.error_value : event.error_name + ": " + event.error_value);
  }
  const ExecdEvent::ErrorOutput error{
      .name = event.error_name, .value = event.error_value, .traceback = traceback.empty() ? nullptr : &traceback};
  Queue(ExecdEvent{.type = "error", .at = WallAt(due), .error = &error}.Line());
}

void RunningExecution::QueueComplete(TimePoint at) {
  if (std::exchange(completed_, true)) return;
  const auto ran = std::chrono::duration_cast<std::chrono::milliseconds>(at - options_.start);
  Queue(ExecdEvent{.type = "execution_complete", .execution_time_ms = ran.count(), .at = WallAt(at)}.Line());
}

void RunningExecution::QueueInterrupted() {
  const TimePoint at = *interrupted_;
  if (std::exchange(inside_output_, false)) Queue(EventTail(WallAt(at)), false, true);
  ExecutionEvent event;
  if (options_.kind == Kind::kKernel) {
    QueueComplete(at);
    Queue(ExecdEvent{.type = "status", .text = "error", .at = WallAt(at)}.Line());
    event.error_name = "KeyboardInterrupt";
    event.traceback = {"\x1b[31mKeyboardInterrupt\x1b[39m: "};
    QueueError(event, at);
  } else if (!std::exchange(failed_, true)) {
    event.error_name = "CommandExecError";
    event.error_value = "-1";
    event.traceback = {"signal: terminated"};
    QueueError(event, at);
  }
  Unregister();
  over_ = Ending::kComplete;
}

void RunningExecution::QueueEnd(TimePoint at) {
  if (run_.script().end == ExecutionEnd::kComplete && !failed_) QueueComplete(at);
  Unregister();
  over_ = Ending::kComplete;
}

bool RunningExecution::IsRegistered() const {
  const auto state = options_.tenant->execd.find(options_.sandbox_id);
  if (state == options_.tenant->execd.end()) return false;
  const auto run = state->second.running.find(options_.execution_id);
  return run != state->second.running.end() && run->second.stream.lock().get() == this;
}

void RunningExecution::Unregister() {
  // After an interrupt the id may already be another run's.
  if (!IsRegistered()) return;
  EndRun(options_.tenant->execd.at(options_.sandbox_id), options_.execution_id, options_.kind == Kind::kCommand);
}

void EndRun(ExecdState& state, const std::string& execution_id, bool command) {
  if (state.running.erase(execution_id) == 0 || !command) return;
  state.ended_commands.push_back(execution_id);
  if (state.ended_commands.size() > kEndedCommandsMax) state.ended_commands.pop_front();
}

std::unique_ptr<BodySource> MakeExecutionStream(std::shared_ptr<RunningExecution> run) {
  return std::make_unique<ExecutionStream>(std::move(run));
}

void WakeExecutions(Tenant& tenant, const Sandbox& sandbox) {
  const auto state = tenant.execd.find(sandbox.id);
  if (state == tenant.execd.end()) return;
  for (const auto& [id, run] : state->second.running) {
    if (const auto stream = run.stream.lock()) stream->Wake();
  }
  if (sandbox.end.has_value()) tenant.execd.erase(state);
}

}  // namespace opensandbox::emulator

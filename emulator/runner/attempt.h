// One scenario being played, shared between the thread that plays it and the one that watches it.
#ifndef OPENSANDBOX_EMULATOR_RUNNER_ATTEMPT_H_
#define OPENSANDBOX_EMULATOR_RUNNER_ATTEMPT_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "emulator/runner/runner.h"
#include "emulator/service/emulator.h"
#include "opensandbox/base/virtual_clock.h"

namespace opensandbox::emulator {

class ClientSession;

class Attempt {
 public:
  Attempt(std::shared_ptr<const Scenario> scenario, const RunOptions& options);

  // Plays the scenario to its end on the calling thread. Once.
  void Play();

  // --- for the watching thread ---------------------------------------------------------------------------------------
  // True once Play() is over; waits for it at most that long, in real time.
  bool WaitForEnd(Duration at_most);
  // Changes whenever something moves: time, requests, steps. Only meaningful on a virtual clock.
  std::string Progress() const;
  bool has_virtual_clock() const { return virtual_clock_ != nullptr; }
  // Frees whatever the playing thread may be blocked in, so that Play() comes to its end and reports `why`: the step is
  // asked to stop, the emulator closes its sockets. May block as long as the emulator's own threads are stuck.
  void GiveUp(const std::string& why);
  // Where it is and what its clock waits for, in words.
  std::string Whereabouts() const;

  // After the end.
  const ScenarioResult& result() const { return result_; }
  // For an attempt that could not be ended.
  ScenarioResult AbandonedResult(const std::string& why) const;

 private:
  Result<void> StartEmulator();
  void TakeSteps(ClientSession& session);
  void TakeStep(std::size_t index, ClientSession& session);
  void JudgeRun(ClientSession& session);
  void FailBeforeSteps(const std::string& why);
  void StopEmulator();
  bool ErrorNamesSandbox(const Error& error) const;
  std::optional<std::string> given_up() const;
  std::string StepName() const;

  const std::shared_ptr<const Scenario> scenario_;
  const RunOptions options_;
  const std::chrono::steady_clock::time_point started_;
  std::shared_ptr<Clock> clock_;
  VirtualClock* virtual_clock_ = nullptr;  // clock_, if it is one
  ScenarioResult result_;                  // the playing thread's until done_
  std::vector<std::string> step_failures_;

  std::mutex stop_mutex_;  // one Stop() at a time

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::shared_ptr<Emulator> emulator_;
  std::size_t step_ = 0;  // from 1 while the steps are taken
  bool judging_ = false;
  std::stop_source stop_;  // of the current step
  std::optional<std::string> given_up_;
  bool done_ = false;
};

// Plays a scenario on a thread of its own and watches over it.
ScenarioResult PlayWatched(const std::shared_ptr<const Scenario>& scenario, const RunOptions& options);

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_RUNNER_ATTEMPT_H_

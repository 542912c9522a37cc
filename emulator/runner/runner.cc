#include "emulator/runner/runner.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "emulator/runner/attempt.h"
#include "opensandbox/base/units.h"

namespace opensandbox::emulator {
namespace {

using RealTime = std::chrono::steady_clock;

// How often the watcher looks: often enough for short limits in tests, seldom enough to cost nothing.
Duration LookEvery(const RunOptions& options) {
  return std::clamp<Duration>(std::min(options.stuck_after, options.give_up_after) / 8, std::chrono::milliseconds(1),
                              std::chrono::milliseconds(250));
}

// Returns why the attempt is to be given up, or nothing once it has come to its end.
std::string Watch(Attempt& attempt, const RunOptions& options) {
  const RealTime::time_point began = RealTime::now();
  RealTime::time_point moved = began;
  std::string progress = attempt.Progress();
  while (!attempt.WaitForEnd(LookEvery(options))) {
    const RealTime::time_point now = RealTime::now();
    std::string progress_now = attempt.Progress();
    if (progress_now != progress) {
      progress = std::move(progress_now);
      moved = now;
    }
    if (attempt.has_virtual_clock() && now - moved >= options.stuck_after) {
      return "stuck: nothing moved for " + FormatDuration(options.stuck_after) + " of real time " +
             attempt.Whereabouts();
    }
    if (now - began >= options.give_up_after) {
      return "given up: not at its end after " + FormatDuration(options.give_up_after) + " of real time, " +
             attempt.Whereabouts();
    }
  }
  return "";
}

}  // namespace

ScenarioResult PlayWatched(const std::shared_ptr<const Scenario>& scenario, const RunOptions& options) {
  // Shared, because a thread that can't be ended keeps it.
  const auto attempt = std::make_shared<Attempt>(scenario, options);
  std::thread player([attempt] { attempt->Play(); });
  const std::string why = Watch(*attempt, options);
  if (why.empty()) {
    player.join();
    return attempt->result();
  }
  std::thread rescuer([attempt, why] { attempt->GiveUp(why); });
  if (attempt->WaitForEnd(options.rescue_grace)) {
    player.join();
    rescuer.join();
    return attempt->result();
  }
  player.detach();
  rescuer.detach();
  return attempt->AbandonedResult(why);
}

std::vector<ScenarioResult> RunScenarios(const std::vector<std::shared_ptr<const Scenario>>& scenarios,
                                         const RunOptions& options,
                                         const std::function<void(const ScenarioResult&)>& on_result) {
  std::vector<ScenarioResult> results(scenarios.size());
  std::atomic<std::size_t> next{0};
  std::mutex report_mutex;
  const auto work = [&] {
    for (std::size_t index = next++; index < scenarios.size(); index = next++) {
      results[index] = PlayWatched(scenarios[index], options);
      if (!on_result) continue;
      std::lock_guard lock(report_mutex);
      on_result(results[index]);
    }
  };
  const std::size_t wanted = options.jobs > 0 ? static_cast<std::size_t>(options.jobs)
                                              : 2 * std::max<std::size_t>(1, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (std::size_t i = 1; i < std::min(wanted, scenarios.size()); ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return results;
}

}  // namespace opensandbox::emulator

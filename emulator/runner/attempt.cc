#include "emulator/runner/attempt.h"

#include <algorithm>
#include <utility>

#include "emulator/runner/cancel_timer.h"
#include "emulator/runner/client_session.h"
#include "emulator/runner/step_check.h"
#include "opensandbox/base/units.h"

namespace opensandbox::emulator {
namespace {

constexpr char kApiKey[] = "opensandbox-emulator-run";
constexpr std::size_t kShownWaitsMax = 8;

std::shared_ptr<Clock> MakeClock(const Scenario& scenario) {
  switch (scenario.clock) {
    case ClockMode::kReal:
      return std::shared_ptr<Clock>(&SystemClock::Instance(), [](Clock*) {});
    case ClockMode::kScaled:
      return std::make_shared<ScaledClock>(scenario.clock_scale);
    case ClockMode::kVirtual:
      break;
  }
  return std::make_shared<VirtualClock>();
}

// The port of "127.0.0.1:40123".
std::uint16_t PortOf(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::strtoul(address.c_str() + colon + 1, nullptr, 10));
}

std::string WhySkipped(const Scenario& scenario) {
  if (scenario.client.empty()) return "it has no client steps";
  if (scenario.profile == Profile::kKubernetes) return "the profile \"kubernetes\" is not emulated yet";
  if (scenario.profile == Profile::kSpec) return "the profile \"spec\" is not emulated yet";
  return ClientSession::WhyUnsupported(scenario.client_settings);
}

}  // namespace

Attempt::Attempt(std::shared_ptr<const Scenario> scenario, const RunOptions& options)
    : scenario_(std::move(scenario)),
      options_(options),
      started_(std::chrono::steady_clock::now()),
      clock_(MakeClock(*scenario_)),
      virtual_clock_(dynamic_cast<VirtualClock*>(clock_.get())) {
  result_.scenario = scenario_;
  result_.seed = options_.seed ? *options_.seed : scenario_->seed.value_or(kDefaultRunSeed);
}

void Attempt::Play() {
  result_.skip_reason = WhySkipped(*scenario_);
  result_.skipped = !result_.skip_reason.empty();
  if (!result_.skipped) {
    // The client's connections are closed before the emulator stops: it outlives the session.
    const Participant participant(*clock_);
    const Result<void> started = StartEmulator();
    if (!started) {
      FailBeforeSteps("the emulator did not start: " + started.error().message);
    } else {
      if (options_.on_start) options_.on_start(*emulator_);
      ClientSessionOptions session_options;
      session_options.api_base = emulator_->base_url();
      session_options.api_key = kApiKey;
      session_options.settings = scenario_->client_settings;
      session_options.seed = result_.seed;
      session_options.clock = clock_.get();
      ClientSession session(session_options);
      TakeSteps(session);
      JudgeRun(session);
      if (options_.inspect) options_.inspect(result_, *emulator_);
    }
  }
  // Not a participant any more: whatever still waits on the clock may go on.
  StopEmulator();
  result_.real_duration = std::chrono::steady_clock::now() - started_;
  std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

Result<void> Attempt::StartEmulator() {
  EmulatorOptions options;
  options.clock = clock_;
  options.seed = result_.seed;
  options.profile = scenario_->profile;
  TenantOptions tenant;
  tenant.name = kRunTenant;
  tenant.api_key = kApiKey;
  tenant.scenario = scenario_;
  tenant.clock = clock_;
  tenant.seed = result_.seed;
  tenant.strict = options_.strict;
  options.tenants.push_back(std::move(tenant));
  Result<std::unique_ptr<Emulator>> emulator = Emulator::Start(std::move(options));
  if (!emulator) return emulator.error();
  std::lock_guard lock(mutex_);
  emulator_ = *std::move(emulator);
  return {};
}

void Attempt::TakeSteps(ClientSession& session) {
  for (std::size_t index = 0; index < scenario_->client.size(); ++index) {
    {
      std::lock_guard lock(mutex_);
      if (given_up_) break;
      step_ = index + 1;
      stop_ = std::stop_source();
    }
    TakeStep(index, session);
    // Both ends come to rest before anything else begins: what the step closed is then in the journal.
    if (virtual_clock_ != nullptr && !given_up()) virtual_clock_->Settle();
  }
  std::lock_guard lock(mutex_);
  judging_ = true;
}

void Attempt::TakeStep(std::size_t index, ClientSession& session) {
  const ClientStep& step = scenario_->client[index];
  const TimePoint began = clock_->Now();
  std::stop_source stop;
  {
    std::lock_guard lock(mutex_);
    stop = stop_;
  }
  StepOutcome outcome;
  {
    std::optional<CancelTimer> cancel;
    if (step.cancel_after) cancel.emplace(*clock_, began + *step.cancel_after, stop);
    outcome = session.Take(step, stop.get_token());
    outcome.took = clock_->Now() - began;
  }
  outcome.error_names_sandbox = outcome.error && ErrorNamesSandbox(*outcome.error);
  for (std::string& sentence : CheckStep(index, step, outcome)) step_failures_.push_back(std::move(sentence));
}

bool Attempt::ErrorNamesSandbox(const Error& error) const {
  const std::shared_ptr<Tenant> tenant = emulator_->FindTenant(kRunTenant);
  if (tenant == nullptr) return false;
  std::lock_guard lock(tenant->mutex);
  return tenant->store->FindAny(error.sandbox_id) != nullptr;
}

void Attempt::JudgeRun(ClientSession& session) {
  if (const auto why = given_up()) step_failures_.insert(step_failures_.begin(), *why);
  Result<Verdict> verdict = emulator_->JudgeTenant(kRunTenant, step_failures_);
  if (!verdict) {
    FailBeforeSteps("the run could not be judged: " + verdict.error().message);
    return;
  }
  result_.verdict = *std::move(verdict);
  for (const Leak& leak : session.Leaks()) {
    result_.verdict.warnings.push_back("the client reported that it could not delete sandbox " +
                                       (leak.sandbox_id.empty() ? "tagged " + leak.metadata_tag : leak.sandbox_id) +
                                       ": " + leak.reason);
  }
}

void Attempt::FailBeforeSteps(const std::string& why) {
  result_.verdict.passed = false;
  result_.verdict.failures = step_failures_;
  result_.verdict.failures.push_back(why);
}

void Attempt::StopEmulator() {
  std::shared_ptr<Emulator> emulator;
  {
    std::lock_guard lock(mutex_);
    emulator = emulator_;
  }
  if (emulator == nullptr) return;
  std::lock_guard lock(stop_mutex_);
  emulator->Stop(Duration{0});
}

bool Attempt::WaitForEnd(Duration at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [this] { return done_; });
}

std::string Attempt::Progress() const {
  std::shared_ptr<Emulator> emulator;
  std::string progress;
  {
    std::lock_guard lock(mutex_);
    emulator = emulator_;
    progress = std::to_string(step_) + (judging_ ? "j" : "");
  }
  progress += "@" + std::to_string(clock_->Now().time_since_epoch().count());
  if (emulator == nullptr) return progress;
  const std::shared_ptr<Tenant> tenant = emulator->FindTenant(kRunTenant);
  if (tenant == nullptr) return progress;
  // Somebody who keeps the lock for ever must not catch the watcher too.
  std::unique_lock lock(tenant->mutex, std::try_to_lock);
  if (lock.owns_lock()) progress += "#" + std::to_string(tenant->journal->total());
  return progress;
}

void Attempt::GiveUp(const std::string& why) {
  std::stop_source stop;
  std::shared_ptr<Emulator> emulator;
  {
    std::lock_guard lock(mutex_);
    given_up_ = why;
    stop = stop_;
    emulator = emulator_;
  }
  stop.request_stop();
  if (emulator == nullptr) return;
  // Neither a lock that nobody takes back nor a connection whose bytes were counted wrongly may hold the clock for
  // those who still wait on it.
  const auto free_clock = [&] {
    if (virtual_clock_ == nullptr) return;
    while (virtual_clock_->Unlock()) {
    }
    virtual_clock_->ForgetServerPort(PortOf(emulator->address()));
  };
  free_clock();
  StopEmulator();
  free_clock();
}

std::optional<std::string> Attempt::given_up() const {
  std::lock_guard lock(mutex_);
  return given_up_;
}

std::string Attempt::StepName() const {
  std::lock_guard lock(mutex_);
  if (judging_) return "after the last step";
  if (step_ == 0) return "before the first step";
  return "during step " + std::to_string(step_) + " (" + std::string(ActionName(scenario_->client[step_ - 1])) + ")";
}

std::string Attempt::Whereabouts() const {
  std::string text = StepName();
  if (virtual_clock_ == nullptr) return text;
  text += "; the clock stands at " + FormatDuration(virtual_clock_->Elapsed());
  const std::string blockers = virtual_clock_->Blockers();
  if (!blockers.empty()) text += " because: " + blockers;
  const auto pending = virtual_clock_->PendingDeadlines();
  if (pending.empty()) return text + "; nobody waits on it";
  text += "; waiting on it: ";
  for (std::size_t i = 0; i < std::min(pending.size(), kShownWaitsMax); ++i) {
    if (i > 0) text += ", ";
    text += pending[i].label;
    if (pending[i].deadline != TimePoint::max()) {
      text += " until " + FormatDuration(pending[i].deadline - TimePoint{});
    }
  }
  if (pending.size() > kShownWaitsMax) text += " and " + std::to_string(pending.size() - kShownWaitsMax) + " more";
  return text;
}

ScenarioResult Attempt::AbandonedResult(const std::string& why) const {
  ScenarioResult result;
  result.scenario = scenario_;
  result.seed = options_.seed ? *options_.seed : scenario_->seed.value_or(kDefaultRunSeed);
  result.real_duration = std::chrono::steady_clock::now() - started_;
  result.verdict.passed = false;
  result.verdict.failures = {why, "its threads could not be ended"};
  result.abandoned = true;
  return result;
}

}  // namespace opensandbox::emulator

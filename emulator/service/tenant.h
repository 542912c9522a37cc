// A tenant: one API key's own world. Tenants never see each other.
#ifndef OPENSANDBOX_EMULATOR_SERVICE_TENANT_H_
#define OPENSANDBOX_EMULATOR_SERVICE_TENANT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "emulator/core/journal.h"
#include "emulator/core/ledger.h"
#include "emulator/core/sandbox_store.h"
#include "emulator/scenario/engine.h"
#include "emulator/service/stream_set.h"
#include "opensandbox/base/clock.h"

namespace opensandbox::emulator {

// A code context of execd (wire reference 2.6).
struct CodeContext {
  std::string id;
  std::string language;
  std::string cwd;
  bool is_default = false;
  std::int64_t execution_count = 0;
};

class RunningExecution;  // emulator/opensandbox/execd_stream.h

// A run that the daemon knows of. It goes on when its client has gone, so it may outlive its stream.
struct ExecdRun {
  std::weak_ptr<RunningExecution> stream;  // expired: nobody listens any more
  TimePoint ends{};                        // when its script is over; TimePoint::max(): never
};

// What execd keeps for one sandbox.
struct ExecdState {
  std::map<std::string, CodeContext> contexts;  // by id
  std::map<std::string, ExecdRun> running;      // by execution id (context id for code)
  std::deque<std::string> ended_commands;       // the newest ones, for what an interrupt answers
};

// A request that takes effect some time after it came.
struct LateCommit {
  TimePoint due{};
  std::uint64_t number = 0;  // of the request
  std::function<void(TimePoint now)> commit;
};

struct Tenant : std::enable_shared_from_this<Tenant> {
  std::string name;     // for people; the API key never appears in logs or reports
  std::string api_key;  // "" only for the tenant of a server without keys
  std::shared_ptr<Clock> clock;
  std::optional<std::uint64_t> seed_override;  // beats the scenario's seed
  bool strict = false;

  // Counts the worlds this tenant has had: a reset or another scenario begins a new one, and what belongs to an older
  // one (an open exchange, a running stream) must leave the new one alone. Changed only under the lock.
  std::atomic<std::uint64_t> world{0};
  StreamSet streams;  // locks itself

  // Guards everything below. Never held while anything blocks.
  std::mutex mutex;
  std::uint64_t seed = 0;
  TimePoint loaded{};  // when the scenario was loaded or reset
  std::shared_ptr<const Scenario> scenario;
  std::unique_ptr<SandboxStore> store;
  std::unique_ptr<Journal> journal;
  std::unique_ptr<ScenarioEngine> engine;
  std::map<std::string, ExecdState> execd;  // by sandbox id
  std::deque<LateCommit> late;              // by due, then number

  // Lets everything happen that is due at or before `now`, in order of time: the store's own changes, then, at the same
  // instant, late commits.
  void AdvanceTo(TimePoint now);
  // When the next late commit is due.
  std::optional<TimePoint> NextLate() const;
  void AddLate(LateCommit commit);
};

// Inline, because the surfaces use them and come before this folder.
inline void Tenant::AdvanceTo(TimePoint now) {
  while (!late.empty() && late.front().due <= now) {
    const LateCommit next = std::move(late.front());
    late.pop_front();
    store->AdvanceTo(next.due);
    next.commit(next.due);
  }
  store->AdvanceTo(now);
}

inline std::optional<TimePoint> Tenant::NextLate() const {
  if (late.empty()) return std::nullopt;
  return late.front().due;
}

inline void Tenant::AddLate(LateCommit commit) {
  const auto behind = std::upper_bound(late.begin(), late.end(), commit.due,
                                       [](TimePoint due, const LateCommit& other) { return due < other.due; });
  late.insert(behind, std::move(commit));
}

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SERVICE_TENANT_H_

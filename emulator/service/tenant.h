// A tenant: one API key's own world. Tenants never see each other.
#ifndef OPENSANDBOX_EMULATOR_SERVICE_TENANT_H_
#define OPENSANDBOX_EMULATOR_SERVICE_TENANT_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

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

struct Tenant {
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
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_SERVICE_TENANT_H_

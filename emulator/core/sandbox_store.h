// The sandboxes of one tenant and the passing of their time.
#ifndef OPENSANDBOX_EMULATOR_CORE_SANDBOX_STORE_H_
#define OPENSANDBOX_EMULATOR_CORE_SANDBOX_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/core/lifecycle.h"
#include "opensandbox/base/clock.h"
#include "opensandbox/base/random.h"

namespace opensandbox::emulator {

// What a create request asked for, validated. Order is kept where the wire shows it.
struct SandboxSpec {
  std::string image;         // uri; empty if made from a snapshot
  std::string snapshot_id;
  std::vector<std::string> entrypoint;
  std::optional<Duration> timeout;  // absent: no automatic expiry
  std::vector<std::pair<std::string, std::string>> metadata;
  bool metadata_sent = false;
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<std::pair<std::string, std::string>> resource_limits;
  std::vector<std::pair<std::string, std::string>> extensions;
  std::string network_policy_json;  // compact; empty: none
  bool credential_proxy = false;
  bool secure_access = false;
  std::string platform_os, platform_arch;  // both or neither
};

// How and when a sandbox ceased to exist.
struct SandboxEnd {
  enum class By { kDelete, kExpiry };
  By by = By::kDelete;
  TimePoint at{};
  std::uint64_t request = 0;  // number of the deleting request; 0 for expiry
};

struct StateChange {
  TimePoint at{};
  std::string state, reason, message;
};

struct Sandbox {
  std::string id;
  std::uint64_t number = 0;  // 1, 2, 3 ... in order of creation: "sb-3" in reports
  SandboxSpec spec;
  SandboxBehaviour behaviour;
  TimePoint created{};
  WallTime created_wall{};
  std::optional<TimePoint> expires;
  std::optional<WallTime> expires_wall;
  std::size_t stage = 0;      // index into behaviour.stages, while the script lasts
  TimePoint stage_entered{};
  int stage_polls = 0;
  int endpoint_polls = 0;
  std::string state, reason, message;  // now
  WallTime last_transition{};          // as the wire shows it (docker: moves only when the process ends)
  std::vector<StateChange> history;
  std::vector<std::pair<std::string, std::string>> patched_metadata;  // see PATCH in the wire reference 1.11
  std::string egress_token;   // set if there is a network policy
  std::uint64_t created_by = 0;        // request number
  TimePoint last_touch{};
  std::optional<SandboxEnd> end;       // set: no longer exists for clients, kept for the ledger
};

// Not thread-safe: its tenant's lock guards it. Pure: time comes in as an argument.
class SandboxStore {
 public:
  struct Options {
    std::uint64_t seed = 0;
    std::size_t live_max = 200000;
  };
  // Told of each end and each state change, after it took effect, e.g. to wake running streams.
  using Listener = std::function<void(const Sandbox&)>;

  explicit SandboxStore(Options options);
  void SetListener(Listener listener) { listener_ = std::move(listener); }

  // Lets everything happen that is due at or before `now`: stage changes and expiries, in order of time (equal times:
  // state changes before expiries, then by number). Call it before anything else in a request.
  void AdvanceTo(TimePoint now);
  // When the next such thing is due.
  std::optional<TimePoint> NextDue() const;

  // nullptr when `live_max` is reached.
  Sandbox* Create(SandboxSpec spec, SandboxBehaviour behaviour, std::uint64_t request, TimePoint now, WallTime wall);
  // Live ones only.
  Sandbox* Find(const std::string& id);
  // Ended ones too.
  const Sandbox* FindAny(const std::string& id) const;
  // Live, newest first.
  std::vector<Sandbox*> List();
  // All, in order of creation.
  std::vector<const Sandbox*> All() const;
  std::size_t live_count() const { return live_count_; }

  // Counts a GET for stages that leave after polls; call it after the answer was made.
  void CountPoll(Sandbox& sandbox, TimePoint now, WallTime wall);
  // For stages that wait for a request.
  void NoteOperation(Sandbox& sandbox, const std::string& operation, TimePoint now);
  // Leaves the script and sets the state (pause, resume, scenario effects).
  void SetState(Sandbox& sandbox, std::string state, std::string reason, std::string message, TimePoint now);
  void SetExpiry(Sandbox& sandbox, std::optional<TimePoint> expires, std::optional<WallTime> expires_wall);
  void End(Sandbox& sandbox, SandboxEnd end);

  // A UUID v4 / 32 hex digits / 32 URL-safe base64 characters from the seed: reproducible, never for secrets.
  std::string NewUuid();
  std::string NewHex32();
  std::string NewToken();

 private:
  struct Due;
  void EnterStage(Sandbox& sandbox, std::size_t stage, TimePoint at);
  void Schedule(Sandbox& sandbox);

  Options options_;
  SeededRandom random_;
  Listener listener_;
  std::vector<std::unique_ptr<Sandbox>> all_;
  std::unordered_map<std::string, Sandbox*> by_id_;
  std::multimap<TimePoint, std::uint64_t> due_;  // implementation may change to a heap with lazy deletion
  std::size_t live_count_ = 0;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CORE_SANDBOX_STORE_H_

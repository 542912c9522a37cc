// The sandboxes of one tenant and the passing of their time.
#ifndef OPENSANDBOX_EMULATOR_CORE_SANDBOX_STORE_H_
#define OPENSANDBOX_EMULATOR_CORE_SANDBOX_STORE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/core/lifecycle.h"
#include "opensandbox/base/clock.h"
#include "opensandbox/base/random.h"

namespace opensandbox::emulator {

// What a create request asked for, validated. Order is kept where the wire shows it.
struct SandboxSpec {
  std::string image;  // uri; empty if made from a snapshot
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
  // Named volumes (`pvc`) that came into being with it, and whether they go with it.
  std::vector<std::pair<std::string, bool>> created_volumes;
};

// How and when a sandbox ceased to exist.
struct SandboxEnd {
  enum class By { kDelete, kExpiry, kDeath };
  By by = By::kDelete;
  TimePoint at{};
  std::uint64_t request = 0;  // number of the deleting request; 0 for expiry and death
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
  // The same as clients see it, in microseconds since the epoch: a renewal may go as far as year 9999, which WallTime
  // can't hold; the timer then stands at some centuries from now.
  std::optional<std::int64_t> expires_shown;
  bool scripted = false;  // behaviour.stages rule its state; SetState ends that for good
  std::size_t stage = 0;  // index into behaviour.stages, while the script lasts
  TimePoint stage_entered{};
  std::optional<TimePoint> stage_due;  // when time alone ends the stage
  int stage_polls = 0;
  int endpoint_polls = 0;
  std::string state, reason, message;  // now
  WallTime last_transition{};          // as the wire shows it (docker: moves only when the process ends)
  // The first entry and the newest ones, at most kHistoryMax together; `state_changes` counts all.
  std::vector<StateChange> history;
  std::uint64_t state_changes = 0;
  // What PATCH saved, see the wire reference 1.11. It may be empty; `metadata_patched` tells that there was a PATCH.
  std::vector<std::pair<std::string, std::string>> patched_metadata;
  bool metadata_patched = false;
  std::string egress_token;      // set if there is a network policy
  std::uint64_t created_by = 0;  // request number
  TimePoint last_touch{};
  std::optional<TimePoint> death_due;  // when it dies by itself, if time alone decides
  std::uint64_t death_requests = 0;    // of behaviour.death->on, so far
  std::optional<TimePoint> died;       // it shows behaviour.death->face; with kHealthyPing it still exists
  std::optional<SandboxEnd> end;       // set: no longer exists for clients, kept for the ledger
};

inline constexpr std::size_t kHistoryMax = 256;

// Not thread-safe: its tenant's lock guards it. Pure: time comes in as an argument. A Sandbox stays at its address
// while it lives; ended ones are kept for the ledger, the newest Options::ended_max of the deleted ones and the newest
// Options::live_max of the expired ones. Counts stay right for ever.
class SandboxStore {
 public:
  struct Options {
    std::uint64_t seed = 0;
    std::size_t live_max = 200000;
    std::size_t ended_max = 10000;  // at least 1 is kept
  };
  // Told of each end and each state change, after it took effect, e.g. to wake running streams. Must not call back
  // into the store's changing functions.
  using Listener = std::function<void(const Sandbox&)>;

  explicit SandboxStore(Options options);
  void SetListener(Listener listener) { listener_ = std::move(listener); }

  // Lets everything happen that is due at or before `now`: stage changes and expiries, in order of time (equal times:
  // state changes before expiries before deaths, then by number). Call it before anything else in a request.
  void AdvanceTo(TimePoint now);
  // When the next such thing is due.
  std::optional<TimePoint> NextDue() const;

  // nullptr when `live_max` is reached.
  Sandbox* Create(SandboxSpec spec, SandboxBehaviour behaviour, std::uint64_t request, TimePoint now, WallTime wall);
  // Live ones only.
  Sandbox* Find(const std::string& id);
  // Ended ones too. Valid until the store is changed.
  const Sandbox* FindAny(const std::string& id) const;
  // Live, newest first.
  std::vector<Sandbox*> List();
  // All that are kept, in order of creation. Valid until the store is changed.
  std::vector<const Sandbox*> All() const;
  std::size_t live_count() const { return live_.size(); }
  std::uint64_t created_count() const { return created_count_; }
  std::uint64_t deleted_count() const { return deleted_count_; }
  std::uint64_t expired_count() const { return expired_count_; }
  std::uint64_t died_count() const { return died_count_; }  // those with a healthy ping are not among them

  // Counts a GET for stages that leave after polls; call it after the answer was made.
  void CountPoll(Sandbox& sandbox, TimePoint now, WallTime wall);
  // For stages that wait for a request. True if this one ended the stage: the script then says what comes next.
  bool NoteOperation(Sandbox& sandbox, const std::string& operation, TimePoint now);
  // For sandboxes that die when a request comes. True if this one was it.
  bool NoteDeath(Sandbox& sandbox, const std::string& operation, TimePoint now);
  // It dies: see DeathFace. Once.
  void Die(Sandbox& sandbox, TimePoint at);
  // Leaves the script and sets the state (pause, resume, scenario effects). Empty reason and message: the docker
  // profile's words for the state.
  void SetState(Sandbox& sandbox, std::string state, std::string reason, std::string message, TimePoint now);
  // An instant in the past takes effect at the next AdvanceTo.
  void SetExpiry(Sandbox& sandbox, std::optional<TimePoint> expires, std::optional<WallTime> expires_wall);
  // A second end of the same sandbox is ignored.
  void End(Sandbox& sandbox, SandboxEnd end);

  // A UUID v4 / the same as 32 hex digits / 32 URL-safe base64 characters from the seed: reproducible, never for
  // secrets. Each kind has a stream of its own.
  std::string NewUuid();
  std::string NewHex32();
  std::string NewToken();

 private:
  // An entry of the timer heap. It is stale, and skipped, unless the sandbox still waits for exactly this instant.
  struct Due {
    enum class Kind : std::uint8_t { kStage, kExpiry, kDeath };
    TimePoint at{};
    Kind kind = Kind::kStage;
    std::uint64_t number = 0;
    auto operator<=>(const Due&) const = default;
  };

  Sandbox* ByNumber(std::uint64_t number) const;
  bool IsStale(const Due& due) const;
  void Push(Due due);
  void PopFront();
  void NoteStale();
  void DropStaleFront();
  void EnterStage(Sandbox& sandbox, std::size_t stage, TimePoint at);
  void LeaveStage(Sandbox& sandbox, TimePoint at);
  void ChangeState(Sandbox& sandbox, std::string state, std::string reason, std::string message, TimePoint at);
  void Forget(std::deque<std::uint64_t>& ended, std::size_t keep);

  Options options_;
  SeededRandom uuid_random_, hex_random_, token_random_;
  Listener listener_;
  std::deque<std::unique_ptr<Sandbox>> all_;  // by number - first_number_; null: forgotten
  std::uint64_t first_number_ = 1;
  std::unordered_map<std::string_view, Sandbox*> by_id_;  // keys live in the sandboxes
  std::map<std::uint64_t, Sandbox*, std::greater<>> live_;
  std::deque<std::uint64_t> deleted_, expired_;  // ended ones that are kept, oldest end first
  std::vector<Due> due_;                         // a min-heap with lazy deletion; its front is never stale
  std::size_t stale_ = 0;                        // about how many entries of it are
  std::uint64_t created_count_ = 0, deleted_count_ = 0, expired_count_ = 0, died_count_ = 0;
};

}  // namespace opensandbox::emulator

#endif  // OPENSANDBOX_EMULATOR_CORE_SANDBOX_STORE_H_

#include "emulator/core/sandbox_store.h"

#include <algorithm>
#include <array>

namespace opensandbox::emulator {
namespace {

// A compaction below this size is not worth it.
constexpr std::size_t kStaleMin = 1024;

// `at + by` without overflow: a timeout of centuries is as good as none.
TimePoint Add(TimePoint at, Duration by) {
  if (by < Duration::zero()) by = Duration::zero();
  return at > TimePoint::max() - by ? TimePoint::max() : at + by;
}

WallTime Add(WallTime at, Duration by) {
  if (by < Duration::zero()) by = Duration::zero();
  return at > WallTime::max() - by ? WallTime::max() : at + by;
}

std::string UuidDigits(SeededRandom& random) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::uint64_t high = random.Next();
  std::uint64_t low = random.Next();
  high = (high & ~std::uint64_t{0xf000}) | 0x4000;                         // version 4
  low = (low & ~(std::uint64_t{0xc} << 60)) | (std::uint64_t{0x8} << 60);  // variant 10
  std::string digits(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    digits[15 - i] = kDigits[(high >> (4 * i)) & 15];
    digits[31 - i] = kDigits[(low >> (4 * i)) & 15];
  }
  return digits;
}

}  // namespace

SandboxStore::SandboxStore(Options options)
    : options_(options),
      uuid_random_(SeededRandom::ForPurpose(options.seed, "uuid")),
      hex_random_(SeededRandom::ForPurpose(options.seed, "hex32")),
      token_random_(SeededRandom::ForPurpose(options.seed, "token")) {
  options_.ended_max = std::max<std::size_t>(options_.ended_max, 1);
}

void SandboxStore::AdvanceTo(TimePoint now) {
  while (!due_.empty() && due_.front().at <= now) {
    const Due due = due_.front();
    PopFront();
    Sandbox& sandbox = *ByNumber(due.number);  // not stale: the front never is
    if (due.kind == Due::Kind::kStage) {
      sandbox.stage_due.reset();
      LeaveStage(sandbox, due.at);
    } else if (due.kind == Due::Kind::kDeath) {
      sandbox.death_due.reset();
      Die(sandbox, due.at);
    } else {
      End(sandbox, SandboxEnd{.by = SandboxEnd::By::kExpiry, .at = due.at, .request = 0});
    }
    DropStaleFront();
  }
}

std::optional<TimePoint> SandboxStore::NextDue() const {
  if (due_.empty()) return std::nullopt;
  return due_.front().at;
}

Sandbox* SandboxStore::Create(SandboxSpec spec, SandboxBehaviour behaviour, std::uint64_t request, TimePoint now,
                              WallTime wall) {
  if (live_.size() >= options_.live_max) return nullptr;
  auto owned = std::make_unique<Sandbox>();
  Sandbox& sandbox = *owned;
  sandbox.id = NewUuid();
  sandbox.number = ++created_count_;
  sandbox.spec = std::move(spec);
  sandbox.behaviour = std::move(behaviour);
  sandbox.created = now;
  sandbox.created_wall = wall;
  sandbox.last_transition = wall;
  sandbox.created_by = request;
  sandbox.last_touch = now;
  if (!sandbox.spec.network_policy_json.empty()) sandbox.egress_token = NewToken();
  all_.push_back(std::move(owned));
  by_id_.emplace(sandbox.id, &sandbox);
  live_.emplace(sandbox.number, &sandbox);
  if (sandbox.spec.timeout.has_value()) {
    SetExpiry(sandbox, Add(now, *sandbox.spec.timeout), Add(wall, *sandbox.spec.timeout));
  }
  if (sandbox.behaviour.death && sandbox.behaviour.death->after) {
    sandbox.death_due = Add(now, *sandbox.behaviour.death->after);
    Push({.at = *sandbox.death_due, .kind = Due::Kind::kDeath, .number = sandbox.number});
  }
  if (sandbox.behaviour.stages.empty()) {
    ChangeState(sandbox, state::kRunning, "", "", now);
  } else {
    sandbox.scripted = true;
    EnterStage(sandbox, 0, now);
  }
  return &sandbox;
}

Sandbox* SandboxStore::Find(const std::string& id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() || found->second->end.has_value() ? nullptr : found->second;
}

const Sandbox* SandboxStore::FindAny(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<Sandbox*> SandboxStore::List() {
  std::vector<Sandbox*> list;
  list.reserve(live_.size());
  for (const auto& [number, sandbox] : live_) list.push_back(sandbox);
  return list;
}

std::vector<const Sandbox*> SandboxStore::All() const {
  std::vector<const Sandbox*> list;
  list.reserve(all_.size());
  for (const auto& sandbox : all_) {
    if (sandbox != nullptr) list.push_back(sandbox.get());
  }
  return list;
}

void SandboxStore::CountPoll(Sandbox& sandbox, TimePoint now, WallTime wall) {
  (void)wall;
  sandbox.last_touch = now;
  if (sandbox.end.has_value()) return;
  ++sandbox.stage_polls;
  if (!sandbox.scripted) return;
  const std::optional<int>& polls = sandbox.behaviour.stages[sandbox.stage].polls;
  if (polls.has_value() && sandbox.stage_polls >= *polls) LeaveStage(sandbox, now);
}

bool SandboxStore::NoteOperation(Sandbox& sandbox, const std::string& operation, TimePoint now) {
  sandbox.last_touch = now;
  if (sandbox.end.has_value() || !sandbox.scripted) return false;
  if (sandbox.behaviour.stages[sandbox.stage].until != operation) return false;
  if (sandbox.stage + 1 >= sandbox.behaviour.stages.size()) return false;
  LeaveStage(sandbox, now);
  return true;
}

bool SandboxStore::NoteDeath(Sandbox& sandbox, const std::string& operation, TimePoint now) {
  const std::optional<DeathBehaviour>& death = sandbox.behaviour.death;
  if (!death || death->on != operation || sandbox.died || sandbox.end) return false;
  if (++sandbox.death_requests < death->nth) return false;
  Die(sandbox, now);
  return true;
}

void SandboxStore::Die(Sandbox& sandbox, TimePoint at) {
  if (sandbox.died || sandbox.end || !sandbox.behaviour.death) return;
  sandbox.died = at;
  if (sandbox.death_due) {
    sandbox.death_due.reset();
    NoteStale();
  }
  if (sandbox.behaviour.death->face == DeathFace::kHealthyPing) {
    if (listener_) listener_(sandbox);
  } else {
    End(sandbox, SandboxEnd{.by = SandboxEnd::By::kDeath, .at = at, .request = 0});
  }
}

void SandboxStore::SetState(Sandbox& sandbox, std::string state, std::string reason, std::string message,
                            TimePoint now) {
  if (sandbox.end.has_value()) return;
  sandbox.scripted = false;
  if (sandbox.stage_due.has_value()) {
    sandbox.stage_due.reset();
    NoteStale();
  }
  ChangeState(sandbox, std::move(state), std::move(reason), std::move(message), now);
}

void SandboxStore::SetExpiry(Sandbox& sandbox, std::optional<TimePoint> expires, std::optional<WallTime> expires_wall) {
  if (sandbox.end.has_value()) return;
  const bool had_timer = sandbox.expires.has_value();
  sandbox.expires = expires;
  sandbox.expires_wall = expires_wall;
  if (had_timer) NoteStale();
  if (expires.has_value()) Push({.at = *expires, .kind = Due::Kind::kExpiry, .number = sandbox.number});
}

void SandboxStore::End(Sandbox& sandbox, SandboxEnd end) {
  if (sandbox.end.has_value()) return;
  const bool expired = end.by == SandboxEnd::By::kExpiry;
  sandbox.end = end;
  live_.erase(sandbox.number);
  ++(expired ? expired_count_ : end.by == SandboxEnd::By::kDeath ? died_count_ : deleted_count_);
  if (sandbox.death_due) {
    sandbox.death_due.reset();
    NoteStale();
  }
  const bool had_stage_timer = sandbox.stage_due.has_value();
  sandbox.stage_due.reset();
  if (had_stage_timer) NoteStale();
  if (sandbox.expires.has_value() && !expired) NoteStale();
  if (listener_) listener_(sandbox);
  auto& ended = expired ? expired_ : deleted_;
  ended.push_back(sandbox.number);
  Forget(ended, expired ? std::max<std::size_t>(options_.live_max, 1) : options_.ended_max);
}

std::string SandboxStore::NewUuid() {
  std::string uuid = UuidDigits(uuid_random_);
  for (const std::size_t place : {std::size_t{20}, std::size_t{16}, std::size_t{12}, std::size_t{8}}) {
    uuid.insert(place, 1, '-');
  }
  return uuid;
}

std::string SandboxStore::NewHex32() { return UuidDigits(hex_random_); }

std::string SandboxStore::NewToken() {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string token;
  for (int word = 0; word < 4; ++word) {
    std::uint64_t bits = token_random_.Next();
    for (int i = 0; i < 8; ++i, bits >>= 6) token.push_back(kDigits[bits & 63]);
  }
  return token;
}

Sandbox* SandboxStore::ByNumber(std::uint64_t number) const {
  if (number < first_number_ || number - first_number_ >= all_.size()) return nullptr;
  return all_[static_cast<std::size_t>(number - first_number_)].get();
}

bool SandboxStore::IsStale(const Due& due) const {
  const Sandbox* sandbox = ByNumber(due.number);
  if (sandbox == nullptr || sandbox->end.has_value()) return true;
  switch (due.kind) {
    case Due::Kind::kStage:
      return sandbox->stage_due != due.at;
    case Due::Kind::kExpiry:
      return sandbox->expires != due.at;
    case Due::Kind::kDeath:
      break;
  }
  return sandbox->death_due != due.at;
}

void SandboxStore::Push(Due due) {
  due_.push_back(due);
  std::push_heap(due_.begin(), due_.end(), std::greater<>());
}

void SandboxStore::PopFront() {
  std::pop_heap(due_.begin(), due_.end(), std::greater<>());
  due_.pop_back();
}

void SandboxStore::NoteStale() {
  ++stale_;
  DropStaleFront();
  // A client that renews in a loop must not make the heap grow for ever.
  if (stale_ < kStaleMin || stale_ * 2 < due_.size()) return;
  std::erase_if(due_, [this](const Due& due) { return IsStale(due); });
  std::sort(due_.begin(), due_.end());  // a sorted array is a heap
  due_.erase(std::unique(due_.begin(), due_.end()), due_.end());
  stale_ = 0;
}

void SandboxStore::DropStaleFront() {
  while (!due_.empty() && IsStale(due_.front())) {
    PopFront();
    if (stale_ > 0) --stale_;
  }
}

void SandboxStore::EnterStage(Sandbox& sandbox, std::size_t stage, TimePoint at) {
  const std::vector<Stage>& stages = sandbox.behaviour.stages;
  while (true) {
    const Stage& entered = stages[stage];
    sandbox.stage = stage;
    sandbox.stage_entered = at;
    sandbox.stage_polls = 0;
    ChangeState(sandbox, entered.state, entered.reason, entered.message, at);
    if (stage + 1 >= stages.size()) return;  // the last one stays, whatever its conditions
    if (entered.duration.has_value() && *entered.duration > Duration::zero()) {
      sandbox.stage_due = Add(at, *entered.duration);
      Push({.at = *sandbox.stage_due, .kind = Due::Kind::kStage, .number = sandbox.number});
    }
    const bool over = (entered.duration.has_value() && *entered.duration <= Duration::zero()) ||
                      (entered.polls.has_value() && *entered.polls <= 0);
    if (!over) return;
    if (sandbox.stage_due.has_value()) {
      sandbox.stage_due.reset();
      NoteStale();
    }
    ++stage;
  }
}

void SandboxStore::LeaveStage(Sandbox& sandbox, TimePoint at) {
  if (sandbox.stage + 1 >= sandbox.behaviour.stages.size()) return;
  if (sandbox.stage_due.has_value()) {
    sandbox.stage_due.reset();
    NoteStale();
  }
  EnterStage(sandbox, sandbox.stage + 1, at);
}

void SandboxStore::ChangeState(Sandbox& sandbox, std::string new_state, std::string reason, std::string message,
                               TimePoint at) {
  if (reason.empty() || message.empty()) {
    StatusText text = DefaultStatusText(new_state);
    if (reason.empty()) reason = std::move(text.reason);
    if (message.empty()) message = std::move(text.message);
  }
  sandbox.state = std::move(new_state);
  sandbox.reason = std::move(reason);
  sandbox.message = std::move(message);
  // Docker shows FinishedAt of a stopped container and otherwise the creation; pause and resume do not move it.
  if (sandbox.state == state::kTerminated || sandbox.state == state::kFailed) {
    sandbox.last_transition = Add(sandbox.created_wall, at - sandbox.created);
  }
  const bool first = sandbox.state_changes == 0;
  ++sandbox.state_changes;
  if (sandbox.history.size() >= kHistoryMax) sandbox.history.erase(sandbox.history.begin() + 1);
  sandbox.history.push_back({.at = at, .state = sandbox.state, .reason = sandbox.reason, .message = sandbox.message});
  if (!first && listener_) listener_(sandbox);
}

void SandboxStore::Forget(std::deque<std::uint64_t>& ended, std::size_t keep) {
  while (ended.size() > keep) {
    const std::uint64_t number = ended.front();
    ended.pop_front();
    std::unique_ptr<Sandbox>& place = all_[static_cast<std::size_t>(number - first_number_)];
    by_id_.erase(place->id);
    place.reset();
  }
  while (!all_.empty() && all_.front() == nullptr) {
    all_.pop_front();
    ++first_number_;
  }
}

}  // namespace opensandbox::emulator

#include "emulator/core/sandbox_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr TimePoint kStart{};
constexpr WallTime kWall{std::chrono::seconds(1767225600)};

class SandboxStoreTest : public ::testing::Test {
 protected:
  Sandbox* Create(SandboxBehaviour behaviour = {}, std::optional<Duration> timeout = {}, TimePoint now = kStart) {
    SandboxSpec spec;
    spec.timeout = timeout;
    return store_.Create(std::move(spec), std::move(behaviour), 1, now, kWall + (now - kStart));
  }
  static SandboxBehaviour Script(std::vector<Stage> stages) {
    SandboxBehaviour behaviour;
    behaviour.stages = std::move(stages);
    return behaviour;
  }
  static std::vector<std::string> States(const Sandbox& sandbox) {
    std::vector<std::string> states;
    for (const StateChange& change : sandbox.history) {
      states.push_back(change.state + "@" + std::to_string((change.at - kStart) / 1ms));
    }
    return states;
  }

  SandboxStore store_{SandboxStore::Options{.seed = 7}};
};

TEST_F(SandboxStoreTest, WithoutAScriptASandboxRunsAtOnce) {
  const Sandbox* sandbox = Create({}, 300s);
  EXPECT_EQ(sandbox->state, "Running");
  EXPECT_EQ(sandbox->reason, "CONTAINER_RUNNING");
  EXPECT_EQ(sandbox->message, "Sandbox container is running.");
  EXPECT_EQ(sandbox->number, 1u);
  EXPECT_EQ(sandbox->expires, kStart + 300s);
  EXPECT_EQ(sandbox->expires_wall, kWall + 300s);
  EXPECT_EQ(sandbox->last_transition, kWall);
  EXPECT_FALSE(sandbox->scripted);
}

TEST_F(SandboxStoreTest, StagesLeaveExactlyWhenTheirTimeIsOver) {
  Sandbox* sandbox = Create(Script({{.state = "Pending", .duration = 2s}, {.state = "Running"}}));
  EXPECT_EQ(store_.NextDue(), kStart + 2s);
  store_.AdvanceTo(kStart + 2s - 1ns);
  EXPECT_EQ(sandbox->state, "Pending");
  store_.AdvanceTo(kStart + 2s);
  EXPECT_EQ(sandbox->state, "Running");
  EXPECT_EQ(store_.NextDue(), std::nullopt);
}

TEST_F(SandboxStoreTest, OneLeapThroughSeveralStagesDatesEachAtItsOwnInstant) {
  Sandbox* sandbox = Create(Script({{.state = "Pending", .duration = 1s},
                                    {.state = "Allocated", .duration = 0s},
                                    {.state = "Running", .duration = 5s},
                                    {.state = "Failed", .reason = "OOM", .message = "out of memory"}}),
                            10s);
  store_.AdvanceTo(kStart + 9s);
  EXPECT_THAT(States(*sandbox), ElementsAre("Pending@0", "Allocated@1000", "Running@1000", "Failed@6000"));
  EXPECT_EQ(sandbox->reason, "OOM");
  EXPECT_EQ(sandbox->message, "out of memory");
  EXPECT_EQ(sandbox->last_transition, kWall + 6s);
}

TEST_F(SandboxStoreTest, APollCountLeavesWithTheNthAnswer) {
  Sandbox* sandbox = Create(Script({{.state = "Pending", .polls = 3}, {.state = "Running"}}));
  for (int poll = 1; poll <= 3; ++poll) {
    EXPECT_EQ(sandbox->state, "Pending") << poll;
    store_.CountPoll(*sandbox, kStart, kWall);
  }
  EXPECT_EQ(sandbox->state, "Running");
}

TEST_F(SandboxStoreTest, WhicheverConditionComesFirstEndsAStageAndTheOthersAreVoid) {
  Sandbox* sandbox = Create(Script({{.state = "Pending", .duration = 10s, .polls = 2, .until = "pauseSandbox"},
                                    {.state = "Pausing", .duration = 3s, .polls = 1},
                                    {.state = "Paused"}}));
  EXPECT_FALSE(store_.NoteOperation(*sandbox, "getSandbox", kStart + 1s));
  EXPECT_TRUE(store_.NoteOperation(*sandbox, "pauseSandbox", kStart + 1s));
  EXPECT_EQ(sandbox->state, "Pausing");
  EXPECT_EQ(store_.NextDue(), kStart + 4s);
  store_.CountPoll(*sandbox, kStart + 2s, kWall + 2s);
  EXPECT_EQ(sandbox->state, "Paused");
  EXPECT_EQ(store_.NextDue(), std::nullopt);
  store_.AdvanceTo(kStart + 100s);
  EXPECT_EQ(sandbox->state, "Paused");
  EXPECT_EQ(sandbox->last_touch, kStart + 2s);
}

TEST_F(SandboxStoreTest, TheLastStageStaysWhateverItsConditions) {
  Sandbox* sandbox = Create(Script({{.state = "Pending", .duration = 1s, .polls = 1, .until = "getSandbox"}}));
  EXPECT_EQ(store_.NextDue(), std::nullopt);
  store_.CountPoll(*sandbox, kStart, kWall);
  EXPECT_FALSE(store_.NoteOperation(*sandbox, "getSandbox", kStart));
  store_.AdvanceTo(kStart + 5s);
  EXPECT_EQ(sandbox->state, "Pending");
  EXPECT_EQ(sandbox->state_changes, 1u);
}

TEST_F(SandboxStoreTest, SetStateLeavesTheScriptForGood) {
  Sandbox* sandbox = Create(Script({{.state = "Running", .duration = 2s}, {.state = "Failed"}}));
  store_.SetState(*sandbox, state::kPaused, "", "", kStart + 1s);
  EXPECT_EQ(sandbox->reason, "CONTAINER_PAUSED");
  store_.AdvanceTo(kStart + 10s);
  EXPECT_EQ(sandbox->state, "Paused");
  EXPECT_EQ(sandbox->last_transition, kWall);  // docker does not move it on pause
}

TEST_F(SandboxStoreTest, ExpiryEndsASandboxAtItsInstantAndFindForgetsIt) {
  Sandbox* sandbox = Create({}, 60s);
  const std::string id = sandbox->id;
  store_.AdvanceTo(kStart + 60s - 1ns);
  EXPECT_EQ(store_.Find(id), sandbox);
  store_.AdvanceTo(kStart + 90s);
  EXPECT_EQ(store_.Find(id), nullptr);
  ASSERT_NE(store_.FindAny(id), nullptr);
  EXPECT_EQ(store_.FindAny(id)->end->by, SandboxEnd::By::kExpiry);
  EXPECT_EQ(store_.FindAny(id)->end->at, kStart + 60s);
  EXPECT_EQ(store_.expired_count(), 1u);
  EXPECT_EQ(store_.live_count(), 0u);
}

TEST_F(SandboxStoreTest, RenewingMovesTheExpiryBothWaysAndRemovesIt) {
  Sandbox* sandbox = Create({}, 60s);
  store_.SetExpiry(*sandbox, kStart + 120s, kWall + 120s);
  store_.AdvanceTo(kStart + 60s);
  EXPECT_FALSE(sandbox->end);
  store_.SetExpiry(*sandbox, kStart + 70s, kWall + 70s);
  EXPECT_EQ(store_.NextDue(), kStart + 70s);
  store_.SetExpiry(*sandbox, std::nullopt, std::nullopt);
  EXPECT_EQ(store_.NextDue(), std::nullopt);
  store_.AdvanceTo(kStart + 1000s);
  EXPECT_FALSE(sandbox->end);
}

TEST_F(SandboxStoreTest, AnExpiryMovedAwayAndBackFiresOnce) {
  Sandbox* sandbox = Create({}, 60s);
  store_.SetExpiry(*sandbox, kStart + 10s, kWall + 10s);
  store_.SetExpiry(*sandbox, kStart + 60s, kWall + 60s);
  store_.AdvanceTo(kStart + 60s);
  EXPECT_TRUE(sandbox->end);
  EXPECT_EQ(store_.expired_count(), 1u);
}

TEST_F(SandboxStoreTest, EqualInstantsGoStateChangesFirstThenByNumber) {
  std::vector<std::string> seen;
  store_.SetListener([&](const Sandbox& sandbox) {
    seen.push_back(std::to_string(sandbox.number) + (sandbox.end ? " ended" : " " + sandbox.state));
  });
  Create({}, 60s);
  Create(Script({{.state = "Pending", .duration = 60s}, {.state = "Running"}}), 60s);
  Create(Script({{.state = "Pending", .duration = 60s}, {.state = "Failed"}}));
  Create(Script({{.state = "Pending", .duration = 59s}, {.state = "Running"}}));
  EXPECT_THAT(seen, IsEmpty());  // a first state is no change
  store_.AdvanceTo(kStart + 60s);
  EXPECT_THAT(seen, ElementsAre("4 Running", "2 Running", "3 Failed", "1 ended", "2 ended"));
}

TEST_F(SandboxStoreTest, DeleteWorksOnceInEveryState) {
  for (const std::string& name : state::All()) {
    Sandbox* sandbox = Create(Script({{.state = name}}), 60s);
    const std::string id = sandbox->id;
    store_.End(*sandbox, {.by = SandboxEnd::By::kDelete, .at = kStart + 1s, .request = 9});
    store_.End(*sandbox, {.by = SandboxEnd::By::kExpiry, .at = kStart + 2s});
    EXPECT_EQ(sandbox->end->request, 9u);
    EXPECT_EQ(store_.Find(id), nullptr) << name;
    store_.SetState(*sandbox, "Running", "", "", kStart + 2s);
    EXPECT_EQ(sandbox->state, name);
  }
  EXPECT_EQ(store_.deleted_count(), 8u);
  EXPECT_EQ(store_.expired_count(), 0u);
  EXPECT_EQ(store_.NextDue(), std::nullopt);
}

TEST_F(SandboxStoreTest, ListIsNewestFirstAndLiveOnlyWhileAllKeepsTheOrderOfCreation) {
  Create();
  Sandbox* second = Create();
  Create();
  store_.End(*second, {.at = kStart});
  std::vector<std::uint64_t> numbers;
  for (const Sandbox* sandbox : store_.List()) numbers.push_back(sandbox->number);
  EXPECT_THAT(numbers, ElementsAre(3, 1));
  numbers.clear();
  for (const Sandbox* sandbox : store_.All()) numbers.push_back(sandbox->number);
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3));
}

TEST_F(SandboxStoreTest, TheLiveLimitHoldsAndADeleteMakesRoom) {
  SandboxStore store(SandboxStore::Options{.seed = 1, .live_max = 3});
  const auto create = [&] { return store.Create({}, {}, 1, kStart, kWall); };
  create();
  create();
  Sandbox* third = create();
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(create(), nullptr);
  EXPECT_EQ(store.created_count(), 3u);
  store.End(*third, {.at = kStart});
  EXPECT_NE(create(), nullptr);
}

TEST_F(SandboxStoreTest, DeletedSandboxesAreKeptUpToALimitAndCountedForEver) {
  SandboxStore store(SandboxStore::Options{.seed = 1, .ended_max = 2});
  std::vector<std::string> ids;
  const Sandbox* survivor = store.Create({}, {}, 1, kStart, kWall);
  for (int i = 0; i < 4; ++i) {
    Sandbox* sandbox = store.Create({}, {}, 1, kStart, kWall);
    ids.push_back(sandbox->id);
    store.End(*sandbox, {.at = kStart});
  }
  EXPECT_EQ(store.FindAny(ids[0]), nullptr);
  EXPECT_EQ(store.FindAny(ids[1]), nullptr);
  EXPECT_NE(store.FindAny(ids[2]), nullptr);
  EXPECT_NE(store.FindAny(ids[3]), nullptr);
  EXPECT_EQ(store.All().size(), 3u);
  EXPECT_EQ(store.deleted_count(), 4u);
  EXPECT_EQ(store.Find(survivor->id), survivor);
}

TEST_F(SandboxStoreTest, HistoryKeepsTheFirstAndTheNewestEntries) {
  Sandbox* sandbox = Create();
  for (std::size_t i = 1; i < kHistoryMax; ++i) store_.SetState(*sandbox, "Running", "r", "m", kStart + i * 1ms);
  EXPECT_EQ(sandbox->history.size(), kHistoryMax);
  EXPECT_EQ(sandbox->history[1].at, kStart + 1ms);
  store_.SetState(*sandbox, "Paused", "r", "m", kStart + 1s);
  EXPECT_EQ(sandbox->history.size(), kHistoryMax);
  EXPECT_EQ(sandbox->state_changes, kHistoryMax + 1);
  EXPECT_EQ(sandbox->history.front().at, kStart);
  EXPECT_EQ(sandbox->history[1].at, kStart + 2ms);
  EXPECT_EQ(sandbox->history.back().state, "Paused");
}

TEST_F(SandboxStoreTest, ATokenComesOnlyWithANetworkPolicy) {
  EXPECT_EQ(Create()->egress_token, "");
  SandboxSpec spec;
  spec.network_policy_json = "{}";
  const Sandbox* guarded = store_.Create(std::move(spec), {}, 1, kStart, kWall);
  EXPECT_THAT(guarded->egress_token, MatchesRegex("[A-Za-z0-9_-]{32}"));
}

TEST_F(SandboxStoreTest, IdsHaveTheirShapeAndFollowFromTheSeedKindByKind) {
  SandboxStore one(SandboxStore::Options{.seed = 3}), same(SandboxStore::Options{.seed = 3}),
      other(SandboxStore::Options{.seed = 4});
  const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  const std::regex hex("[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}");
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = one.NewUuid();
    ASSERT_TRUE(std::regex_match(id, uuid)) << id;
    ASSERT_TRUE(seen.insert(id).second);
    ASSERT_TRUE(std::regex_match(one.NewHex32(), hex));
    ASSERT_EQ(one.NewToken().size(), 32u);
    ASSERT_EQ(same.NewUuid(), id);  // although `same` never drew a hex id or a token
    ASSERT_NE(other.NewUuid(), id);
  }
}

TEST_F(SandboxStoreTest, ATimeoutOfCenturiesDoesNotOverflow) {
  const Sandbox* sandbox = Create({}, Duration::max(), kStart + 1h);
  store_.AdvanceTo(kStart + 1000h);
  EXPECT_FALSE(sandbox->end);
  EXPECT_EQ(sandbox->expires, TimePoint::max());
}

TEST_F(SandboxStoreTest, RenewingInALoopKeepsTheNextInstantRight) {
  Sandbox* sandbox = Create({}, 60s);
  for (int i = 1; i <= 100000; ++i) store_.SetExpiry(*sandbox, kStart + 60s + i * 1ms, kWall);
  EXPECT_EQ(store_.NextDue(), kStart + 160s);
  store_.AdvanceTo(kStart + 160s - 1ns);
  EXPECT_FALSE(sandbox->end);
  store_.AdvanceTo(kStart + 160s);
  EXPECT_TRUE(sandbox->end);
}

// The heap against a plain model: random creates, renewals, pauses, deletes and leaps; each must give the same states
// and ends, whether time passes in leaps or in steps from one NextDue() to the next.
TEST_F(SandboxStoreTest, LeapsAndSmallStepsComeToTheSame) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SandboxStore leap(SandboxStore::Options{.seed = 1}), step(SandboxStore::Options{.seed = 1});
    std::vector<std::string> leap_trace, step_trace;
    const auto recorder = [](std::vector<std::string>& trace) {
      return [&trace](const Sandbox& sandbox) {
        const TimePoint at = sandbox.end ? sandbox.end->at : sandbox.history.back().at;
        trace.push_back(std::to_string((at - kStart).count()) + " " + std::to_string(sandbox.number) + " " +
                        (sandbox.end ? "ended" : sandbox.state));
      };
    };
    leap.SetListener(recorder(leap_trace));
    step.SetListener(recorder(step_trace));
    SeededRandom random(seed);
    TimePoint now = kStart;
    const auto both = [&](auto&& action) {
      action(leap);
      action(step);
    };
    for (int turn = 0; turn < 200; ++turn) {
      now += std::chrono::milliseconds(random.Below(3000));
      leap.AdvanceTo(now);
      while (step.NextDue() && *step.NextDue() <= now) {
        const TimePoint due = *step.NextDue();
        step.AdvanceTo(due);
        ASSERT_TRUE(!step.NextDue() || *step.NextDue() > due);
      }
      const std::uint64_t choice = random.Below(6);
      const std::uint64_t pick = random.Below(1000);
      const Duration length = std::chrono::milliseconds(random.Below(5000));
      both([&](SandboxStore& store) {
        const std::vector<Sandbox*> live = store.List();
        if (choice <= 2 || live.empty()) {
          SandboxSpec spec;
          if (pick % 3 != 0) spec.timeout = length * 3;
          store.Create(std::move(spec),
                       Script({{.state = "Pending", .duration = length},
                               {.state = "Running", .duration = length / 2, .until = "pauseSandbox"},
                               {.state = "Failed"}}),
                       1, now, kWall);
          return;
        }
        Sandbox& sandbox = *live[pick % live.size()];
        if (choice == 3) store.SetExpiry(sandbox, now + length, kWall);
        if (choice == 4) store.NoteOperation(sandbox, "pauseSandbox", now);
        if (choice == 5) store.End(sandbox, {.at = now});
      });
    }
    ASSERT_FALSE(leap_trace.empty());
    ASSERT_EQ(leap_trace, step_trace);
    ASSERT_TRUE(std::is_sorted(leap_trace.begin(), leap_trace.end(),
                               [](const auto& a, const auto& b) { return std::stoll(a) < std::stoll(b); }));
    ASSERT_EQ(leap.live_count() + leap.deleted_count() + leap.expired_count(), leap.created_count());
  }
}

TEST_F(SandboxStoreTest, AHundredThousandSandboxesLiveThroughADay) {
  SeededRandom random(5);
  for (int i = 0; i < 100000; ++i) {
    Create(Script({{.state = "Pending", .duration = std::chrono::milliseconds(random.Below(60000))},
                   {.state = "Running"}}),
           std::chrono::seconds(60 + random.Below(86340)));
  }
  TimePoint last = kStart;
  std::uint64_t stops = 0;
  while (const auto due = store_.NextDue()) {
    ASSERT_GE(*due, last);
    last = *due;
    ++stops;
    store_.AdvanceTo(*due);
  }
  EXPECT_GT(stops, 60000u);
  EXPECT_EQ(store_.expired_count(), 100000u);
  EXPECT_LE(last, kStart + 24h);
}

}  // namespace
}  // namespace opensandbox::emulator

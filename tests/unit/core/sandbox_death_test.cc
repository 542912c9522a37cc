// Sandboxes that die by themselves.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "emulator/core/ledger.h"
#include "emulator/core/sandbox_store.h"

namespace opensandbox::emulator {
namespace {

using namespace std::chrono_literals;  // NOLINT: the literals are the point

constexpr TimePoint kStart{};

Sandbox& Make(SandboxStore& store, DeathBehaviour death, std::optional<Duration> timeout = std::nullopt) {
  SandboxSpec spec;
  spec.timeout = timeout;
  SandboxBehaviour behaviour;
  behaviour.death = std::move(death);
  return *store.Create(std::move(spec), std::move(behaviour), 1, kStart, WallTime{});
}

TEST(SandboxDeathTest, ComesAtItsTime) {
  SandboxStore store({.seed = 1});
  const std::string id = Make(store, {.after = 5s}).id;
  EXPECT_EQ(store.NextDue(), kStart + 5s);
  store.AdvanceTo(kStart + 5s - 1ns);
  EXPECT_NE(store.Find(id), nullptr);
  store.AdvanceTo(kStart + 5s);
  EXPECT_EQ(store.Find(id), nullptr);
  const Sandbox* dead = store.FindAny(id);
  ASSERT_NE(dead, nullptr);
  EXPECT_EQ(dead->died, kStart + 5s);
  EXPECT_EQ(dead->end->by, SandboxEnd::By::kDeath);
  EXPECT_EQ(store.died_count(), 1u);
  EXPECT_EQ(store.deleted_count(), 0u);
  EXPECT_EQ(store.NextDue(), std::nullopt);
}

TEST(SandboxDeathTest, IsNoLeak) {
  SandboxStore store({.seed = 1});
  Make(store, {.after = 5s});
  store.AdvanceTo(kStart + 6s);
  EXPECT_TRUE(FindLeaks(store, Journal(), kStart + 6s).empty());
  EXPECT_EQ(Summarise(store).died, 1u);
  EXPECT_EQ(Summarise(store).live, 0u);
}

TEST(SandboxDeathTest, ComesWithTheNthRequest) {
  SandboxStore store({.seed = 1});
  Sandbox& sandbox = Make(store, {.on = "getSandbox", .nth = 2});
  EXPECT_FALSE(store.NoteDeath(sandbox, "deleteSandbox", kStart));
  EXPECT_FALSE(store.NoteDeath(sandbox, "getSandbox", kStart));
  EXPECT_TRUE(store.NoteDeath(sandbox, "getSandbox", kStart + 1s));
  EXPECT_FALSE(store.NoteDeath(sandbox, "getSandbox", kStart + 2s));
  EXPECT_EQ(sandbox.died, kStart + 1s);
}

TEST(SandboxDeathTest, WhatWasDeletedBeforeDoesNotDie) {
  SandboxStore store({.seed = 1});
  Sandbox& sandbox = Make(store, {.after = 5s});
  store.End(sandbox, {.by = SandboxEnd::By::kDelete, .at = kStart + 1s});
  store.AdvanceTo(kStart + 10s);
  EXPECT_FALSE(sandbox.died);
  EXPECT_EQ(store.died_count(), 0u);
  EXPECT_EQ(store.NextDue(), std::nullopt);
}

TEST(SandboxDeathTest, BehindAHealthyPingItStillExistsAndExpires) {
  SandboxStore store({.seed = 1});
  Sandbox& sandbox = Make(store, {.after = 5s, .face = DeathFace::kHealthyPing}, 60s);
  store.AdvanceTo(kStart + 5s);
  EXPECT_TRUE(sandbox.died);
  EXPECT_NE(store.Find(sandbox.id), nullptr);
  EXPECT_EQ(store.died_count(), 0u);
  store.AdvanceTo(kStart + 60s);
  EXPECT_EQ(store.expired_count(), 1u);
}

TEST(SandboxDeathTest, TheListenerHearsOfIt) {
  SandboxStore store({.seed = 1});
  int told = 0;
  store.SetListener([&](const Sandbox&) { ++told; });
  Make(store, {.after = 5s});
  Make(store, {.after = 5s, .face = DeathFace::kHealthyPing});
  store.AdvanceTo(kStart + 5s);
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace opensandbox::emulator

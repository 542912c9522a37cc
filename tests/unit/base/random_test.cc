#include "opensandbox/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace opensandbox {
namespace {

TEST(SeededRandomTest, IsSplitMix64) {
  // First outputs of Vigna's reference implementation (prng.di.unimi.it/splitmix64.c) for seed 1234567.
  SeededRandom random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
  EXPECT_EQ(random.Next(), 9817491932198370423u);
  EXPECT_EQ(random.Next(), 4593380528125082431u);
  EXPECT_EQ(random.Next(), 16408922859458223821u);
}

TEST(SeededRandomTest, AStreamDependsOnSeedPurposeAndOccurrenceOnly) {
  SeededRandom a = SeededRandom::ForPurpose(7, "flaky-get", 2);
  SeededRandom b = SeededRandom::ForPurpose(7, "flaky-get", 2);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(a.Next(), b.Next());
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed : {0u, 1u, 7u}) {
    for (const char* purpose : {"", "a", "b", "ab", "flaky-get"}) {
      for (std::uint64_t occurrence : {0u, 1u, 2u}) {
        firsts.insert(SeededRandom::ForPurpose(seed, purpose, occurrence).Next());
      }
    }
  }
  EXPECT_EQ(firsts.size(), 45u);
}

TEST(SeededRandomTest, StreamsAreTheSameOnEveryPlatform) {
  // A change here changes what every recorded seed means.
  EXPECT_EQ(SeededRandom::ForPurpose(7, "flaky-get").Next(), 11202433237183661777u);
  EXPECT_EQ(SeededRandom::ForPurpose(7, "flaky-get", 1).Next(), 12486864148137646501u);
}

TEST(SeededRandomTest, BelowStaysBelowAndReachesEveryValue) {
  SeededRandom random(1);
  EXPECT_EQ(random.Below(0), 0u);
  EXPECT_EQ(random.Below(1), 0u);
  std::array<int, 6> counts = {};
  for (int i = 0; i < 6000; ++i) {
    const std::uint64_t draw = random.Below(6);
    ASSERT_LT(draw, 6u);
    ++counts[draw];
  }
  for (const int count : counts) {
    EXPECT_GT(count, 850);
    EXPECT_LT(count, 1150);
  }
  const std::uint64_t huge = (std::uint64_t{1} << 63) + 1;
  for (int i = 0; i < 1000; ++i) ASSERT_LT(random.Below(huge), huge);
}

TEST(SeededRandomTest, UniformCoversTheHalfOpenUnitInterval) {
  SeededRandom random(1);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double draw = random.Uniform();
    ASSERT_GE(draw, 0.0);
    ASSERT_LT(draw, 1.0);
    sum += draw;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

}  // namespace
}  // namespace opensandbox

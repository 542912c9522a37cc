#include "opensandbox/base/units.h"

#include <gtest/gtest.h>

#include <string>

namespace opensandbox {
namespace {

using namespace std::chrono_literals;

TEST(ParseDurationTest, ReadsEveryUnitAndDecimals) {
  EXPECT_EQ(ParseDuration("0"), 0s);
  EXPECT_EQ(ParseDuration("0s"), 0s);
  EXPECT_EQ(ParseDuration("3ns"), 3ns);
  EXPECT_EQ(ParseDuration("10us"), 10us);
  EXPECT_EQ(ParseDuration("250ms"), 250ms);
  EXPECT_EQ(ParseDuration("1.5s"), 1500ms);
  EXPECT_EQ(ParseDuration("5m"), 5min);
  EXPECT_EQ(ParseDuration("24h"), 24h);
  EXPECT_EQ(ParseDuration("7d"), 168h);
  EXPECT_EQ(ParseDuration("0.000000001s"), 1ns);
  EXPECT_EQ(ParseDuration("0.1us"), 100ns);
  EXPECT_EQ(ParseDuration("9223372036854775807ns"), Duration::max());
}

TEST(ParseDurationTest, RefusesEverythingElse) {
  for (const char* text : {"",
                           "5",
                           "s",
                           "-1s",
                           "+1s",
                           "1 s",
                           " 1s",
                           "1s ",
                           "1.s",
                           ".5s",
                           "1..5s",
                           "1.5.5s",
                           "2m30s",
                           "1S",
                           "1sec",
                           "1e3s",
                           "0x1s",
                           "1.5ns",
                           "0.0000000001s",
                           "1.0000000000s",
                           "1,5s",
                           "9223372036854775808ns",
                           "106752d",
                           "99999999999999999999999999999999999999999999s"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(FormatDurationTest, IsTheShortestExactForm) {
  EXPECT_EQ(FormatDuration(0s), "0s");
  EXPECT_EQ(FormatDuration(30s), "30s");
  EXPECT_EQ(FormatDuration(1250ms), "1.25s");
  EXPECT_EQ(FormatDuration(150s), "150s");  // not 2.5m, which is as long
  EXPECT_EQ(FormatDuration(1ms), "1ms");
  EXPECT_EQ(FormatDuration(100us), "100us");
  EXPECT_EQ(FormatDuration(5min), "5m");
  EXPECT_EQ(FormatDuration(24h), "1d");
  EXPECT_EQ(FormatDuration(36h), "36h");
  EXPECT_EQ(FormatDuration(1ns), "1ns");
  EXPECT_EQ(FormatDuration(1s + 10ns), "1.00000001s");
  EXPECT_EQ(FormatDuration(-1500ms), "-1.5s");
}

TEST(FormatDurationTest, IsReadBackExactly) {
  for (const Duration duration : {Duration(1), Duration(999), Duration(123456789), Duration(86399999999999),
                                  Duration(1000000000001), Duration::max(), Duration::max() - Duration(1)}) {
    EXPECT_EQ(ParseDuration(FormatDuration(duration)), duration) << FormatDuration(duration);
  }
  EXPECT_EQ(FormatDuration(Duration::min()).front(), '-');
}

TEST(ParseByteSizeTest, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(ParseByteSize("0"), 0u);
  EXPECT_EQ(ParseByteSize("512"), 512u);
  EXPECT_EQ(ParseByteSize("10KiB"), 10240u);
  EXPECT_EQ(ParseByteSize("1.5MiB"), 1572864u);
  EXPECT_EQ(ParseByteSize("10GiB"), 10737418240u);
  EXPECT_EQ(ParseByteSize("10KB"), 10000u);
  EXPECT_EQ(ParseByteSize("1.5MB"), 1500000u);
  EXPECT_EQ(ParseByteSize("2GB"), 2000000000u);
  EXPECT_EQ(ParseByteSize("9223372036854775808"), std::uint64_t{1} << 63);
  EXPECT_EQ(ParseByteSize("8589934592GiB"), std::uint64_t{1} << 63);
}

TEST(ParseByteSizeTest, RefusesEverythingElse) {
  for (const char* text : {"", "KiB", "-1", "1 KiB", "1kib", "1B", "1TiB", "0.5", "1.0001KiB", "1.KiB",
                           "9223372036854775809", "8589934593GiB", "99999999999999999999999999"}) {
    EXPECT_EQ(ParseByteSize(text), std::nullopt) << text;
  }
}

TEST(FormatByteSizeTest, UsesTheLargestUnitThatIsExact) {
  EXPECT_EQ(FormatByteSize(0), "0");
  EXPECT_EQ(FormatByteSize(1023), "1023");
  EXPECT_EQ(FormatByteSize(1024), "1KiB");
  EXPECT_EQ(FormatByteSize(1536), "1.5KiB");
  EXPECT_EQ(FormatByteSize(10485760), "10MiB");
  EXPECT_EQ(FormatByteSize(10485761), "10485761");
  EXPECT_EQ(FormatByteSize(std::uint64_t{10} << 30), "10GiB");
  for (const std::uint64_t size : {1u, 1000u, 1025u, 1572864u, 4294967295u}) {
    EXPECT_EQ(ParseByteSize(FormatByteSize(size)), size);
  }
}

}  // namespace
}  // namespace opensandbox

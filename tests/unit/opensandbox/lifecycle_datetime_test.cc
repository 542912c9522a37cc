#include "emulator/opensandbox/lifecycle_datetime.h"

#include <gtest/gtest.h>

#include <string>

namespace opensandbox::emulator {
namespace {

struct Row {
  const char* text;
  const char* shown;
};

constexpr Row kGood[] = {
    {"2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"},
    {"2030-01-01T00:00:00+08:00", "2029-12-31T16:00:00Z"},
    {"2030-01-01T00:00:00-0130", "2030-01-01T01:30:00Z"},
    {"2030-01-01T00:00:00", "2030-01-01T00:00:00Z"},
    {"2030-01-01T12:34Z", "2030-01-01T12:34:00Z"},
    {"2030-01-01t00:00:00z", "2030-01-01T00:00:00Z"},
    {"2030-01-01 00:00:00Z", "2030-01-01T00:00:00Z"},
    {"2030-01-01_00:00:00Z", "2030-01-01T00:00:00Z"},
    {"2030-01-01", "2030-01-01T00:00:00Z"},
    {"2030-01-01T00:00:00.5Z", "2030-01-01T00:00:00.500000Z"},
    {"2030-01-01T00:00:00.123456789Z", "2030-01-01T00:00:00.123456Z"},
    {"2030-01-01T00:00:00.000001Z", "2030-01-01T00:00:00.000001Z"},
    {"4102444800", "2100-01-01T00:00:00Z"},
    {"4102444800000", "2100-01-01T00:00:00Z"},
    {"4102444800.25", "2100-01-01T00:00:00.250000Z"},
    {"20000000000", "2603-10-11T11:33:20Z"},  // the last one that means seconds
    {"20000000001", "1970-08-20T11:33:20.001000Z"},
    {"-1", "1969-12-31T23:59:59Z"},
    {"9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"},
    {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
    {"2024-02-29", "2024-02-29T00:00:00Z"},
};

TEST(LifecycleDatetimeTest, EveryFormIsUnderstood) {
  for (const Row& row : kGood) {
    const DatetimeResult result = ParseDatetimeText(row.text);
    ASSERT_TRUE(result.micros.has_value()) << row.text << ": " << result.error;
    EXPECT_EQ(FormatMicros(*result.micros), row.shown) << row.text;
  }
}

constexpr Row kBad[] = {
    {"", "input is too short"},
    {"tomorrow", "input is too short"},
    {"2030-1-1", "input is too short"},
    {"203x-01-01", "invalid character in year"},
    {"10000-01-01T00:00:00Z", "invalid date separator, expected `-`"},
    {"2030-x1-01", "invalid character in month"},
    {"2030-01/01", "invalid date separator, expected `-`"},
    {"2030-01-0x", "invalid character in day"},
    {"2030-13-01", "month value is outside expected range of 1-12"},
    {"2030-00-01", "month value is outside expected range of 1-12"},
    {"2030-02-29", "day value is outside expected range"},
    {"2030-04-31", "day value is outside expected range"},
    {"2030-01-01T24:00:00Z", "unexpected extra characters at the end of the input"},
    {"2030-01-01T00:60:00Z", "unexpected extra characters at the end of the input"},
    {"2030-01-01T00:00:00Zx", "unexpected extra characters at the end of the input"},
    {"2030-01-01T00:00:00+24:00", "unexpected extra characters at the end of the input"},
    {"2030-01-01T00:00:00.", "unexpected extra characters at the end of the input"},
    {"2030-01-01x", "unexpected extra characters at the end of the input"},
    {"9999999999999999999999", "dates after 9999 are not supported as unix timestamps"},
    {"-9999999999999999999999", "dates before 0000 are not supported as unix timestamps"},
};

TEST(LifecycleDatetimeTest, OthersAreRefusedInTheValidatorsWords) {
  for (const Row& row : kBad) {
    const DatetimeResult result = ParseDatetimeText(row.text);
    EXPECT_FALSE(result.micros.has_value()) << row.text;
    EXPECT_EQ(result.error, row.shown) << row.text;
  }
}

TEST(LifecycleDatetimeTest, MicrosAreCutOffNotRounded) {
  EXPECT_EQ(MicrosOf(WallTime(Duration(1999))), 1);
  EXPECT_EQ(MicrosOf(WallTime(Duration(-1))), -1);
}

}  // namespace
}  // namespace opensandbox::emulator

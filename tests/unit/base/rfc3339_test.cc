#include "opensandbox/base/rfc3339.h"

#include <gtest/gtest.h>

#include <string>

namespace opensandbox {
namespace {

using namespace std::chrono_literals;

// 2026-11-30T21:53:39Z
constexpr std::int64_t kNovember = 1796075619;

WallTime At(std::int64_t seconds, Duration more = Duration::zero()) {
  return WallTime(std::chrono::seconds(seconds)) + more;
}

struct ParseCase {
  std::string name;
  std::string text;
  std::optional<WallTime> time;
};
void PrintTo(const ParseCase& c, std::ostream* os) { *os << '"' << c.text << '"'; }

class ParseRfc3339Test : public ::testing::TestWithParam<ParseCase> {};

TEST_P(ParseRfc3339Test, Reads) { EXPECT_EQ(ParseRfc3339(GetParam().text), GetParam().time); }

INSTANTIATE_TEST_SUITE_P(
    , ParseRfc3339Test,
    ::testing::Values(ParseCase{"Epoch", "1970-01-01T00:00:00Z", At(0)},
                      ParseCase{"Seconds", "2026-11-30T21:53:39Z", At(kNovember)},
                      ParseCase{"Microseconds", "2026-11-30T21:53:39.568738Z", At(kNovember, 568738us)},
                      ParseCase{"OneDigit", "2026-11-30T21:53:39.5Z", At(kNovember, 500ms)},
                      ParseCase{"NineDigits", "2026-11-30T21:53:39.123456789Z", At(kNovember, 123456789ns)},
                      ParseCase{"MoreDigitsAreDropped", "2026-11-30T21:53:39.1234567899999Z",
                                At(kNovember, 123456789ns)},
                      ParseCase{"PositiveOffset", "2026-11-30T23:23:39+01:30", At(kNovember)},
                      ParseCase{"NegativeOffsetAcrossMidnight", "2026-11-30T21:53:39-05:00", At(kNovember + 5 * 3600)},
                      ParseCase{"ZeroOffset", "2026-11-30T21:53:39+00:00", At(kNovember)},
                      ParseCase{"LowerCase", "2026-11-30t21:53:39z", At(kNovember)},
                      ParseCase{"Blank", "2026-11-30 21:53:39Z", At(kNovember)},
                      ParseCase{"LeapDay", "2024-02-29T00:00:00Z", At(1709164800)},
                      ParseCase{"LeapSecond", "2016-12-31T23:59:60Z", At(1483228800)},
                      ParseCase{"BeforeTheEpoch", "1969-12-31T23:59:59.5Z", At(-1, 500ms)},
                      ParseCase{"NoLeapDay", "2026-02-29T00:00:00Z", std::nullopt},
                      ParseCase{"NoMonth13", "2026-13-01T00:00:00Z", std::nullopt},
                      ParseCase{"NoMonth0", "2026-00-01T00:00:00Z", std::nullopt},
                      ParseCase{"NoHour24", "2026-11-30T24:00:00Z", std::nullopt},
                      ParseCase{"NoMinute60", "2026-11-30T21:60:00Z", std::nullopt},
                      ParseCase{"NoSecond61", "2026-11-30T21:53:61Z", std::nullopt},
                      ParseCase{"NoZone", "2026-11-30T21:53:39", std::nullopt},
                      ParseCase{"NoDigitAfterThePoint", "2026-11-30T21:53:39.Z", std::nullopt},
                      ParseCase{"OffsetWithoutColon", "2026-11-30T21:53:39+0100", std::nullopt},
                      ParseCase{"OffsetTooLarge", "2026-11-30T21:53:39+24:00", std::nullopt},
                      ParseCase{"Trailing", "2026-11-30T21:53:39Zx", std::nullopt},
                      ParseCase{"Leading", " 2026-11-30T21:53:39Z", std::nullopt},
                      ParseCase{"ShortYear", "226-11-30T21:53:39Z", std::nullopt},
                      ParseCase{"YearThatDoesNotFit", "0001-01-01T00:00:00Z", std::nullopt},
                      ParseCase{"FarYear", "9999-12-31T23:59:59Z", std::nullopt}, ParseCase{"Empty", "", std::nullopt},
                      ParseCase{"DateOnly", "2026-11-30", std::nullopt}),
    [](const auto& test) { return test.param.name; });

TEST(FormatRfc3339Test, CutsDigitsOffAndNeverRounds) {
  const WallTime time = At(kNovember, 999999999ns);
  EXPECT_EQ(FormatRfc3339(time, 0), "2026-11-30T21:53:39Z");
  EXPECT_EQ(FormatRfc3339(time, 1), "2026-11-30T21:53:39.9Z");
  EXPECT_EQ(FormatRfc3339(time, 6), "2026-11-30T21:53:39.999999Z");
  EXPECT_EQ(FormatRfc3339(time, 9), "2026-11-30T21:53:39.999999999Z");
  EXPECT_EQ(FormatRfc3339(time, 12), "2026-11-30T21:53:39.999999999Z");
  EXPECT_EQ(FormatRfc3339(time, -1), "2026-11-30T21:53:39Z");
  EXPECT_EQ(FormatRfc3339(At(kNovember, 1us), 6), "2026-11-30T21:53:39.000001Z");
  EXPECT_EQ(FormatRfc3339(At(-1, 500ms), 3), "1969-12-31T23:59:59.500Z");
}

TEST(FormatRfc3339Test, IsReadBackExactly) {
  for (const std::int64_t seconds : {std::int64_t{0}, kNovember, std::int64_t{951782399}, std::int64_t{-86401}}) {
    const WallTime time = At(seconds, 123456789ns);
    EXPECT_EQ(ParseRfc3339(FormatRfc3339(time, 9)), time);
  }
}

TEST(HttpDateTest, IsWrittenAndReadInTheFormOfRfc9110) {
  EXPECT_EQ(FormatHttpDate(At(kNovember, 999ms)), "Mon, 30 Nov 2026 21:53:39 GMT");
  EXPECT_EQ(FormatHttpDate(At(784111777)), "Sun, 06 Nov 1994 08:49:37 GMT");  // RFC 9110's own example
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), At(784111777));
  EXPECT_EQ(ParseHttpDate("Mon, 30 Nov 2026 21:53:39 GMT"), At(kNovember));
}

TEST(HttpDateTest, RefusesWhatIsNoDate) {
  for (const char* text :
       {"", "120", "Mon, 30 Nov 2026 21:53:39", "Mon, 30 Nov 2026 21:53:39 UTC", "Mon, 31 Nov 2026 21:53:39 GMT",
        "Xyz, 30 Nov 2026 21:53:39 GMT", "Mon, 30 nov 2026 21:53:39 GMT", "Mon 30 Nov 2026 21:53:39 GMT",
        "Mon, 30 Nov 2026 21:53:39 GMT "}) {
    EXPECT_EQ(ParseHttpDate(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace opensandbox

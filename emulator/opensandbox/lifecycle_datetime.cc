#include "emulator/opensandbox/lifecycle_datetime.h"

#include <charconv>
#include <chrono>
#include <cmath>

#include "emulator/opensandbox/lifecycle_text.h"

namespace opensandbox::emulator {
namespace {

constexpr std::string_view kTooShort = "input is too short";
constexpr std::string_view kTooLate = "dates after 9999 are not supported as unix timestamps";
constexpr std::string_view kTooEarly = "dates before 0000 are not supported as unix timestamps";
constexpr std::int64_t kMicrosPerSecond = 1000000;
// Above this many seconds an epoch is taken for milliseconds.
constexpr double kSecondsMax = 2e10;
constexpr std::int64_t kDatetimeMinMicros = -62135596800000000;  // year 1

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads from the front; a failed step makes all later ones fail.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool ok() const { return ok_; }
  bool AtEnd() const { return text_.empty(); }
  int Digits(std::size_t count) {
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (text_.empty() || !IsDigit(text_.front())) ok_ = false;
      if (!ok_) return 0;
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }
  // Takes one of the characters if it comes next; 0 otherwise.
  char Take(std::string_view choices) {
    if (!ok_ || text_.empty() || choices.find(text_.front()) == std::string_view::npos) return 0;
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }
  void Expect(std::string_view choices) {
    if (Take(choices) == 0) ok_ = false;
  }
  // Up to nine digits as microseconds; those beyond six are cut off.
  std::int64_t Fraction() {
    std::int64_t micros = 0;
    int count = 0;
    while (!text_.empty() && IsDigit(text_.front())) {
      if (count < 6) micros = micros * 10 + (text_.front() - '0');
      ++count;
      text_.remove_prefix(1);
    }
    if (count == 0 || count > 9) ok_ = false;
    for (int i = count; i < 6; ++i) micros *= 10;
    return micros;
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

DatetimeResult Fail(std::string_view error) { return {std::nullopt, error}; }

DatetimeResult Checked(std::int64_t micros) {
  if (micros > kDatetimeMaxMicros) return Fail(kTooLate);
  if (micros < kDatetimeMinMicros) return Fail(kTooEarly);
  return {micros, {}};
}

// The date at the front, with the validator's own order of complaints.
DatetimeResult ParseDate(std::string_view text) {
  if (text.size() < 10) return Fail(kTooShort);
  const auto digits_at = [text](std::size_t at, std::size_t count) {
    for (std::size_t i = at; i < at + count; ++i) {
      if (!IsDigit(text[i])) return false;
    }
    return true;
  };
  const auto number_at = [text](std::size_t at, std::size_t count) {
    int value = 0;
    for (std::size_t i = at; i < at + count; ++i) value = value * 10 + (text[i] - '0');
    return value;
  };
  if (!digits_at(0, 4)) return Fail("invalid character in year");
  if (text[4] != '-') return Fail("invalid date separator, expected `-`");
  if (!digits_at(5, 2)) return Fail("invalid character in month");
  if (text[7] != '-') return Fail("invalid date separator, expected `-`");
  if (!digits_at(8, 2)) return Fail("invalid character in day");
  const int year = number_at(0, 4);
  const auto month = static_cast<unsigned>(number_at(5, 2));
  const auto day = static_cast<unsigned>(number_at(8, 2));
  if (month < 1 || month > 12) return Fail("month value is outside expected range of 1-12");
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok() || year == 0) return Fail("day value is outside expected range");
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return {days * 86400 * kMicrosPerSecond, {}};
}

// The time and the offset behind the separator, in microseconds to add; nullopt if they are none.
std::optional<std::int64_t> ParseTime(std::string_view text) {
  Cursor cursor(text);
  const int hour = cursor.Digits(2);
  cursor.Expect(":");
  const int minute = cursor.Digits(2);
  int second = 0;
  std::int64_t fraction = 0;
  if (cursor.Take(":") != 0) {
    second = cursor.Digits(2);
    if (cursor.Take(".,") != 0) fraction = cursor.Fraction();
  }
  std::int64_t offset = 0;
  if (cursor.Take("zZ") == 0) {
    if (const char sign = cursor.Take("+-"); sign != 0) {
      const int hours = cursor.Digits(2);
      cursor.Take(":");
      const int minutes = cursor.Digits(2);
      if (hours > 23 || minutes > 59) return std::nullopt;
      offset = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    }
  }
  if (!cursor.ok() || !cursor.AtEnd() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return (hour * 3600 + minute * 60 + second - offset) * kMicrosPerSecond + fraction;
}

std::optional<double> ParseNumber(std::string_view text) {
  text = PyStrip(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text.find_first_not_of("0123456789.-") != std::string_view::npos) return std::nullopt;
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

void AppendPadded(std::string& out, std::int64_t value, int width) {
  char digits[20];
  for (int i = width; i-- > 0; value /= 10) digits[i] = static_cast<char>('0' + value % 10);
  out.append(digits, static_cast<std::size_t>(width));
}

}  // namespace

DatetimeResult DatetimeOfEpoch(double number) {
  if (std::isnan(number)) return Fail("NaN values not permitted");
  if (number >= 1e18) return Fail(kTooLate);
  if (number <= -1e18) return Fail(kTooEarly);
  const double seconds = std::fabs(number) > kSecondsMax ? number / 1000 : number;
  if (seconds > 1e12) return Fail(kTooLate);
  if (seconds < -1e12) return Fail(kTooEarly);
  return Checked(std::llround(seconds * static_cast<double>(kMicrosPerSecond)));
}

DatetimeResult ParseDatetimeText(std::string_view text) {
  DatetimeResult date = ParseDate(text);
  if (date.micros.has_value()) {
    if (text.size() == 10) return date;
    if (std::string_view("Tt _").find(text[10]) != std::string_view::npos) {
      const std::optional<std::int64_t> time = ParseTime(text.substr(11));
      if (time.has_value()) return Checked(*date.micros + *time);
    }
    return Fail("unexpected extra characters at the end of the input");
  }
  if (const std::optional<double> number = ParseNumber(text)) return DatetimeOfEpoch(*number);
  return date;
}

std::int64_t MicrosOf(WallTime time) {
  return std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()).count();
}

std::string FormatMicros(std::int64_t micros) {
  const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds(micros)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss of_day(time - day);
  std::string text;
  text.reserve(27);
  AppendPadded(text, static_cast<int>(date.year()), 4);
  text.push_back('-');
  AppendPadded(text, static_cast<unsigned>(date.month()), 2);
  text.push_back('-');
  AppendPadded(text, static_cast<unsigned>(date.day()), 2);
  text.push_back('T');
  AppendPadded(text, of_day.hours().count(), 2);
  text.push_back(':');
  AppendPadded(text, of_day.minutes().count(), 2);
  text.push_back(':');
  AppendPadded(text, of_day.seconds().count(), 2);
  if (of_day.subseconds().count() != 0) {
    text.push_back('.');
    AppendPadded(text, of_day.subseconds().count(), 6);
  }
  text.push_back('Z');
  return text;
}

}  // namespace opensandbox::emulator

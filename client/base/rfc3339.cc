#include "opensandbox/base/rfc3339.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace opensandbox {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::array<const char*, 7> kWeekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct Civil {
  int year = 0;
  unsigned month = 0, day = 0;
  int hour = 0, minute = 0, second = 0;
  std::int64_t nanosecond = 0;
  unsigned weekday = 0;  // 0: Sunday
};

Civil ToCivil(WallTime time) {
  const auto date = std::chrono::floor<days>(time);
  const std::chrono::year_month_day ymd(date);
  const std::chrono::hh_mm_ss<Duration> of_day(time - date);
  return {static_cast<int>(ymd.year()),
          static_cast<unsigned>(ymd.month()),
          static_cast<unsigned>(ymd.day()),
          static_cast<int>(of_day.hours().count()),
          static_cast<int>(of_day.minutes().count()),
          static_cast<int>(of_day.seconds().count()),
          of_day.subseconds().count(),
          std::chrono::weekday(date).c_encoding()};
}

// nullopt if it is no date, or one that WallTime can't hold (before 1678 or after 2261).
std::optional<WallTime> FromCivil(const Civil& civil, seconds offset) {
  const std::chrono::year_month_day ymd(std::chrono::year(civil.year), std::chrono::month(civil.month),
                                        std::chrono::day(civil.day));
  if (!ymd.ok() || civil.year < 1678 || civil.year > 2261) return std::nullopt;
  // A leap second (60) is the first moment of the next minute.
  if (civil.hour > 23 || civil.minute > 59 || civil.second > 60) return std::nullopt;
  return WallTime(std::chrono::sys_days(ymd).time_since_epoch()) + hours(civil.hour) + minutes(civil.minute) +
         seconds(civil.second) - offset + Duration(civil.nanosecond);
}

// Reads a text from its front. Once a step fails, all further ones do.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  int Digits(std::size_t count) {
    int value = 0;
    if (text_.size() < count) ok_ = false;
    for (std::size_t i = 0; ok_ && i < count; ++i) {
      if (!IsDigit(text_[i])) ok_ = false;
      value = value * 10 + (text_[i] - '0');
    }
    if (!ok_) return 0;
    text_.remove_prefix(count);
    return value;
  }
  // One of the characters; returns it, or 0.
  char OneOf(std::string_view choices) {
    if (!ok_ || text_.empty() || choices.find(text_.front()) == std::string_view::npos) {
      ok_ = false;
      return 0;
    }
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }
  void Text(std::string_view expected) {
    for (const char c : expected) OneOf(std::string_view(&c, 1));
  }
  template <std::size_t N>
  unsigned Name(const std::array<const char*, N>& names) {
    const auto it = std::find(names.begin(), names.end(), text_.substr(0, 3));
    if (it == names.end()) ok_ = false;
    if (!ok_) return 0;
    text_.remove_prefix(3);
    return static_cast<unsigned>(it - names.begin());
  }
  // ".568738": one digit at least, those beyond the ninth are dropped. Absent: 0.
  std::int64_t Fraction() {
    if (!ok_ || text_.empty() || text_.front() != '.') return 0;
    text_.remove_prefix(1);
    if (text_.empty() || !IsDigit(text_.front())) ok_ = false;
    std::int64_t value = 0;
    std::int64_t unit = 100'000'000;
    while (!text_.empty() && IsDigit(text_.front())) {
      value += (text_.front() - '0') * unit;
      unit /= 10;
      text_.remove_prefix(1);
    }
    return value;
  }
  bool Done() const { return ok_ && text_.empty(); }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  std::string_view text_;
  bool ok_ = true;
};

}  // namespace

std::string FormatRfc3339(WallTime time, int fraction_digits) {
  const Civil civil = ToCivil(time);
  char text[64];
  std::snprintf(text, sizeof(text), "%04d-%02u-%02uT%02d:%02d:%02d", civil.year, civil.month, civil.day, civil.hour,
                civil.minute, civil.second);
  std::string result = text;
  const int digits = std::clamp(fraction_digits, 0, 9);
  if (digits > 0) {
    std::snprintf(text, sizeof(text), ".%09lld", static_cast<long long>(civil.nanosecond));
    result.append(text, static_cast<std::size_t>(digits) + 1);
  }
  return result + "Z";
}

std::optional<WallTime> ParseRfc3339(std::string_view text) {
  Reader reader(text);
  Civil civil;
  civil.year = reader.Digits(4);
  reader.Text("-");
  civil.month = static_cast<unsigned>(reader.Digits(2));
  reader.Text("-");
  civil.day = static_cast<unsigned>(reader.Digits(2));
  reader.OneOf("Tt ");
  civil.hour = reader.Digits(2);
  reader.Text(":");
  civil.minute = reader.Digits(2);
  reader.Text(":");
  civil.second = reader.Digits(2);
  civil.nanosecond = reader.Fraction();
  seconds offset(0);
  const char zone = reader.OneOf("Zz+-");
  if (zone == '+' || zone == '-') {
    const int offset_hours = reader.Digits(2);
    reader.Text(":");
    const int offset_minutes = reader.Digits(2);
    if (offset_hours > 23 || offset_minutes > 59) return std::nullopt;
    offset = hours(offset_hours) + minutes(offset_minutes);
    if (zone == '-') offset = -offset;
  }
  if (!reader.Done()) return std::nullopt;
  return FromCivil(civil, offset);
}

std::string FormatHttpDate(WallTime time) {
  const Civil civil = ToCivil(time);
  char text[64];
  std::snprintf(text, sizeof(text), "%s, %02u %s %04d %02d:%02d:%02d GMT", kWeekdays[civil.weekday], civil.day,
                kMonths[civil.month - 1], civil.year, civil.hour, civil.minute, civil.second);
  return text;
}

std::optional<WallTime> ParseHttpDate(std::string_view text) {
  Reader reader(text);
  Civil civil;
  reader.Name(kWeekdays);
  reader.Text(", ");
  civil.day = static_cast<unsigned>(reader.Digits(2));
  reader.Text(" ");
  civil.month = reader.Name(kMonths) + 1;
  reader.Text(" ");
  civil.year = reader.Digits(4);
  reader.Text(" ");
  civil.hour = reader.Digits(2);
  reader.Text(":");
  civil.minute = reader.Digits(2);
  reader.Text(":");
  civil.second = reader.Digits(2);
  reader.Text(" GMT");
  if (!reader.Done()) return std::nullopt;
  return FromCivil(civil, seconds(0));
}

}  // namespace opensandbox

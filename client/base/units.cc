#include "opensandbox/base/units.h"

#include <algorithm>
#include <iterator>

namespace opensandbox {
namespace {

// Products of a 64-bit count and a unit, without overflow. Both compilers have the type; ISO C++ has not.
__extension__ using Wide = unsigned __int128;

constexpr std::size_t kDecimalsMax = 9;

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

// Largest first.
constexpr Unit kDurationUnits[] = {{"d", 86'400'000'000'000},
                                   {"h", 3'600'000'000'000},
                                   {"m", 60'000'000'000},
                                   {"s", 1'000'000'000},
                                   {"ms", 1'000'000},
                                   {"us", 1'000},
                                   {"ns", 1}};
constexpr Unit kByteUnits[] = {{"GiB", 1u << 30},
                               {"MiB", 1u << 20},
                               {"KiB", 1u << 10},
                               {"GB", 1'000'000'000},
                               {"MB", 1'000'000},
                               {"KB", 1'000},
                               {"", 1}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "12.5unit" times the unit's size; nullopt unless it is a whole number up to `max`.
template <std::size_t N>
std::optional<std::uint64_t> ParseQuantity(std::string_view text, const Unit (&units)[N], std::uint64_t max) {
  std::size_t i = 0;
  Wide value = 0;  // all digits, the decimal point left out
  Wide scale = 1;
  for (; i < text.size() && IsDigit(text[i]); ++i) {
    value = value * 10 + static_cast<Wide>(text[i] - '0');
    if (value > max) return std::nullopt;
  }
  if (i == 0) return std::nullopt;
  if (i < text.size() && text[i] == '.') {
    const std::size_t first = ++i;
    for (; i < text.size() && IsDigit(text[i]); ++i) {
      if (i - first == kDecimalsMax) return std::nullopt;
      value = value * 10 + static_cast<Wide>(text[i] - '0');
      scale *= 10;
    }
    if (i == first) return std::nullopt;
  }
  const std::string_view name = text.substr(i);
  const auto* unit = std::find_if(std::begin(units), std::end(units), [&](const Unit& u) { return u.name == name; });
  if (unit == std::end(units)) return std::nullopt;
  const Wide total = value * unit->size;
  if (total % scale != 0 || total / scale > max) return std::nullopt;
  return static_cast<std::uint64_t>(total / scale);
}

// `amount` in the unit as a decimal number; nullopt if it takes more than `decimals_max` decimals.
std::optional<std::string> InUnit(std::uint64_t amount, const Unit& unit, std::size_t decimals_max) {
  std::string text = std::to_string(amount / unit.size);
  std::uint64_t rest = amount % unit.size;
  if (rest == 0) return text;
  text += '.';
  for (std::size_t i = 0; i < decimals_max && rest != 0; ++i) {
    const Wide tenfold = static_cast<Wide>(rest) * 10;
    text += static_cast<char>('0' + static_cast<int>(tenfold / unit.size));
    rest = static_cast<std::uint64_t>(tenfold % unit.size);
  }
  if (rest != 0) return std::nullopt;
  return text;
}

}  // namespace

std::optional<Duration> ParseDuration(std::string_view text) {
  if (text == "0") return Duration::zero();
  const auto count = ParseQuantity(text, kDurationUnits, static_cast<std::uint64_t>(Duration::max().count()));
  if (!count) return std::nullopt;
  return Duration(static_cast<Duration::rep>(*count));
}

std::string FormatDuration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  const bool negative = duration < Duration::zero();
  // Negated as unsigned, for the one value that has no positive counterpart.
  const auto count = static_cast<std::uint64_t>(duration.count());
  const std::uint64_t amount = negative ? 0 - count : count;
  std::string best;
  bool best_is_whole = false;
  for (const Unit& unit : kDurationUnits) {
    auto text = InUnit(amount, unit, kDecimalsMax);
    if (!text) continue;
    const bool whole = text->find('.') == std::string::npos;
    text->append(unit.name);
    if (best.empty() || text->size() < best.size() || (text->size() == best.size() && whole && !best_is_whole)) {
      best = *text;
      best_is_whole = whole;
    }
  }
  return negative ? "-" + best : best;
}

std::optional<std::uint64_t> ParseByteSize(std::string_view text) {
  return ParseQuantity(text, kByteUnits, std::uint64_t{1} << 63);
}

std::string FormatByteSize(std::uint64_t bytes) {
  for (const Unit& unit : kByteUnits) {
    if (unit.size % 1024 != 0 || bytes < unit.size) continue;
    if (auto text = InUnit(bytes, unit, 3)) return text->append(unit.name);
  }
  return std::to_string(bytes);
}

}  // namespace opensandbox

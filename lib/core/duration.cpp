// Parses and formats durations.
#include "core/duration.hpp"

#include <tidegate/core/text.hpp>

namespace tidegate {
namespace {

struct Unit {
  std::string_view name;
  double ns;
};
constexpr std::array units{Unit{"ns", 1},   Unit{"us", 1e3},   Unit{"ms", 1e6},  Unit{"s", 1e9},
                           Unit{"m", 60e9}, Unit{"min", 60e9}, Unit{"h", 3600e9}};
constexpr double most_ns = 365 * 24 * 3600e9;

} // namespace

Result<std::uint64_t> parse_duration(std::string_view text, std::uint64_t unit_ns) {
  const auto refused = [text](std::string_view why) {
    return failure(ErrorCode::invalid_usage, fmt::format("{} {}", in_quotes(text), why),
                   "write a duration such as 10s, 2m, 1.5h or 150ms");
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (unit.size() > 1 && unit.starts_with(' ')) {
    unit.remove_prefix(1);
  }
  const auto* const found = std::ranges::find(units, unit, &Unit::name);
  if (error != std::errc() || text.starts_with('-') || !std::isfinite(number) ||
      (found == units.end() && !unit.empty())) {
    return refused("is not a duration");
  }
  const double ns = number * (unit.empty() ? static_cast<double>(unit_ns) : found->ns);
  return ns > most_ns ? Result<std::uint64_t>(refused("is more than a year"))
                      : static_cast<std::uint64_t>(std::llround(ns));
}

std::string short_time_text(double ns) {
  constexpr std::array<std::string_view, 3> names{"us", "ms", "s"};
  constexpr double thousand = 1000;
  constexpr double rounds_up = 999.5;
  double time = ns / thousand;
  std::size_t unit = 0;
  for (; time >= rounds_up && unit + 1 < names.size(); ++unit) {
    time /= thousand;
  }
  return time < rounds_up ? fmt::format("{:.3g} {}", time, names[unit])
                          : fmt::format("{:.0f} {}", time, names[unit]);
}

std::string seconds_text(std::uint64_t ns) {
  return fmt::format("{:.3g} s", static_cast<double>(ns) / 1e9);
}

} // namespace tidegate

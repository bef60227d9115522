// Parsing and printing of --link.
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "gradcomp/comm/throttled.hpp"

namespace gradcomp {
namespace {

using Unit = std::pair<const char*, double>;
constexpr std::array<Unit, 4> rate_units = {{{"bit/s", 1.0}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}}};
constexpr std::array<Unit, 2> time_units = {{{"us", 1e-6}, {"ms", 1e-3}}};

/// The value of "<number><unit>", or a negative number when `text` is none.
template <std::size_t N>
double parse_quantity(const std::string& text, const std::array<Unit, N>& units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return -1;
  const std::string unit(end, text.data() + text.size());
  for (const auto& [name, factor] : units) {
    if (unit == name) return value * factor;
  }
  return -1;
}

/// In the largest unit that leaves at least 1.
template <std::size_t N>
std::string print_quantity(double value, const std::array<Unit, N>& units) {
  Unit best = units.front();
  for (const auto& unit : units) {
    if (value >= unit.second) best = unit;
  }
  return fmt::format("{:.6g}{}", value / best.second, best.first);
}

}  // namespace

std::string Link::text() const {
  const std::string rate = print_quantity(bits_per_second, rate_units);
  return latency_seconds > 0 ? rate + "," + print_quantity(latency_seconds, time_units) : rate;
}

Link parse_link(const std::string& text) {
  const auto comma = text.find(',');
  Link link;
  link.bits_per_second = parse_quantity(text.substr(0, comma), rate_units);
  if (comma != std::string::npos) link.latency_seconds = parse_quantity(text.substr(comma + 1), time_units);
  require(link.bits_per_second > 0 && link.latency_seconds >= 0,
          "link '{}' is not allowed; it is RATE[,LATENCY] with a rate above 0 in bit/s, kbit/s, Mbit/s or Gbit/s and a "
          "latency in us or ms, as 1Gbit/s,50us",
          text);
  return link;
}

}  // namespace gradcomp

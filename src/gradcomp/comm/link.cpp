// Parses and prints the values of --link.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "gradcomp/comm/throttled.hpp"
#include "gradcomp/core/spec_part.hpp"

namespace gradcomp {
namespace {

using Unit = std::pair<const char*, double>;
constexpr std::array<Unit, 4> rate_units = {{{"bit/s", 1.0}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}}};
constexpr std::array<Unit, 2> time_units = {{{"us", 1e-6}, {"ms", 1e-3}}};

constexpr double slowest_rate = 1, fastest_rate = 1e15, longest_latency = 1000;  ///< bit/s, bit/s, seconds

/// The value of "<number><unit>", or a negative number if `text` has another form or is not finite.
template <std::size_t N>
double parse_quantity(const std::string& text, const std::array<Unit, N>& units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return -1;
  const std::string unit(end, text.data() + text.size());
  for (const auto& [name, factor] : units) {
    if (unit == name) return std::isfinite(value * factor) ? value * factor : -1;
  }
  return -1;
}

/// `value` in the largest unit in which it is at least 1.
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

std::vector<Link> parse_links(const std::string& text) {
  auto words = split_words(text, ',');
  double latency = 0;
  if (words.size() > 1 && parse_quantity(words.back(), time_units) >= 0) {
    latency = parse_quantity(words.back(), time_units);
    words.pop_back();
  }
  std::vector<Link> links;
  for (const std::string& word : words) links.push_back({parse_quantity(word, rate_units), latency});
  const bool good =
      !links.empty() && text.back() != ',' && std::all_of(links.begin(), links.end(), [](const Link& link) {
        return link.bits_per_second >= slowest_rate && link.bits_per_second <= fastest_rate &&
               link.latency_seconds <= longest_latency;
      });
  require(good,
          "link '{}' is not allowed; allowed: RATE,...[,LATENCY] with rates of 1 bit/s to 1000000 Gbit/s (bit/s, "
          "kbit/s, Mbit/s, Gbit/s) and a latency of up to 1000 s (us, ms), such as 1Gbit/s,50us",
          text);
  for (std::size_t i = 0; i < links.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      require(links[i].bits_per_second != links[j].bits_per_second, "link '{}': {} is given twice", text, words[i]);
    }
  }
  return links;
}

Link parse_link(const std::string& text) {
  const auto links = parse_links(text);
  require(links.size() == 1, "link '{}' is not allowed here; allowed: one RATE[,LATENCY], such as 1Gbit/s,50us", text);
  return links.front();
}

Link slowed(const Link& link, double factor) { return {link.bits_per_second / factor, link.latency_seconds * factor}; }

}  // namespace gradcomp

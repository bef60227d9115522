#include "gradcomp/train/crossover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gradcomp/report/table.hpp"

namespace gradcomp::train {
namespace {

using Kind = Crossover::Kind;

std::string megabits(double bits_per_second) { return report::format_number(1e-6 * bits_per_second); }

Crossover at(double rate) {
  Crossover c;
  c.kind = rate == 0 ? Kind::nowhere : std::isinf(rate) ? Kind::everywhere : Kind::below;
  if (c.kind == Kind::below) c.bits_per_second = rate;
  return c;
}

/// From the crossing of each seed, if all lie between the swept rates.
Crossover by_seed(std::vector<double> crossings) {
  for (double& rate : crossings) rate = std::log(rate);
  const MeanInterval interval(crossings);
  Crossover result = at(std::exp(interval.mean));
  if (interval.half_width) {
    result.low = std::exp(interval.mean - *interval.half_width);
    result.high = std::exp(interval.mean + *interval.half_width);
  }
  return result;
}

/// From the mean speed-up at each of the `ascending` rates, and from the ends of its interval.
Crossover by_mean(const std::vector<double>& ascending, const std::vector<std::size_t>& order,
                  const std::vector<Verdict>& verdicts) {
  std::vector<double> means, lows, highs;
  for (const std::size_t l : order) {
    const MeanInterval speed(verdicts[l].over_seeds(&SpeedUps::vs_best_dense));
    means.push_back(speed.mean);
    lows.push_back(speed.mean - speed.half_width.value_or(0));
    highs.push_back(speed.upper());
  }
  Crossover result = at(last_rate_that_pays(ascending, means));
  if (verdicts.front().seeds.size() > 1) {
    result.low = last_rate_that_pays(ascending, lows);
    result.high = last_rate_that_pays(ascending, highs);
    const bool certain = std::all_of(lows.begin(), lows.end(), [](double low) { return low > 1; });
    if (std::isinf(*result.low) && !certain) result.low = 0;  // certain at the highest rate, but not at a lower one
  }
  return result;
}

}  // namespace

std::string Crossover::text() const {
  if (kind == Kind::unknown) return "-";
  if (kind == Kind::nowhere) {
    if (!high || *high == 0) return "pays at no rate swept";
    return std::isinf(*high) ? "pays at no rate swept, open at some rates"
                             : fmt::format("pays at no rate swept, perhaps below {} Mbit/s", megabits(*high));
  }
  if (kind == Kind::everywhere) {
    if (!low || std::isinf(*low)) return "pays at every rate swept";
    return *low == 0 ? "pays at every rate swept by its mean, not for certain"
                     : fmt::format("pays at every rate swept by its mean, for certain below {} Mbit/s", megabits(*low));
  }
  if (!low) return fmt::format("pays below {} Mbit/s", megabits(bits_per_second));
  return fmt::format("pays below {} Mbit/s ({} to {})", megabits(bits_per_second),
                     *low == 0 ? fmt::format("less than {}", megabits(slowest_swept)) : megabits(*low),
                     std::isinf(*high) ? fmt::format("beyond {}", megabits(fastest_swept)) : megabits(*high));
}

double last_rate_that_pays(const std::vector<double>& rates, const std::vector<double>& speedups) {
  std::size_t last = rates.size();
  while (last > 0 && !(speedups[last - 1] > 1)) --last;
  if (last == 0) return 0;
  if (last == rates.size()) return std::numeric_limits<double>::infinity();
  const double above = std::log(speedups[last - 1]), below = std::log(std::max(0.0, speedups[last]));
  const double share = above / (above - below);
  return std::exp(std::log(rates[last - 1]) + share * (std::log(rates[last]) - std::log(rates[last - 1])));
}

Crossover crossover(const std::vector<double>& rates, const std::vector<Verdict>& verdicts) {
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rates[a] < rates[b]; });
  std::vector<double> ascending, crossings;
  for (const std::size_t l : order) ascending.push_back(rates[l]);
  for (std::size_t s = 0; s < verdicts.front().seeds.size(); ++s) {
    std::vector<double> speedups;
    for (const std::size_t l : order) {
      const auto& speed = verdicts[l].seeds[s].vs_best_dense;
      if (!speed) return {};
      speedups.push_back(*speed);
    }
    crossings.push_back(last_rate_that_pays(ascending, speedups));
  }
  const bool all_between =
      std::all_of(crossings.begin(), crossings.end(), [](double rate) { return rate > 0 && std::isfinite(rate); });
  Crossover result = all_between ? by_seed(crossings) : by_mean(ascending, order, verdicts);
  result.slowest_swept = ascending.front();
  result.fastest_swept = ascending.back();
  return result;
}

}  // namespace gradcomp::train

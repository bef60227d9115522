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
  if (rate == 0) return {Kind::nowhere, 0, {}, {}};
  if (std::isinf(rate)) return {Kind::everywhere, 0, {}, {}};
  return {Kind::below, rate, {}, {}};
}

}  // namespace

std::string Crossover::text() const {
  if (kind == Kind::unknown) return "-";
  if (kind == Kind::nowhere) return "pays at no rate swept";
  if (kind == Kind::everywhere) return "pays at every rate swept";
  const std::string interval = low ? fmt::format(" ({} to {})", megabits(*low), megabits(*high)) : "";
  return fmt::format("pays below {} Mbit/s{}", megabits(bits_per_second), interval);
}

double last_rate_that_pays(const std::vector<double>& rates, const std::vector<double>& speedups) {
  std::size_t last = rates.size();
  while (last > 0 && !(speedups[last - 1] > 1)) --last;
  if (last == 0) return 0;
  if (last == rates.size()) return std::numeric_limits<double>::infinity();
  const double above = std::log(speedups[last - 1]), below = std::log(speedups[last]);
  const double share = above / (above - below);
  return std::exp(std::log(rates[last - 1]) + share * (std::log(rates[last]) - std::log(rates[last - 1])));
}

Crossover crossover(const std::vector<double>& rates, const std::vector<Verdict>& verdicts) {
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rates[a] < rates[b]; });
  std::vector<double> ascending, means(rates.size(), 0.0), crossings;
  for (const std::size_t l : order) ascending.push_back(rates[l]);
  const std::size_t seeds = verdicts.front().seeds.size();
  for (std::size_t s = 0; s < seeds; ++s) {
    std::vector<double> speedups;
    for (const std::size_t l : order) {
      const auto& speed = verdicts[l].seeds[s].vs_best_dense;
      if (!speed) return {};
      means[speedups.size()] += *speed / static_cast<double>(seeds);
      speedups.push_back(*speed);
    }
    crossings.push_back(last_rate_that_pays(ascending, speedups));
  }
  const bool all_between =
      std::all_of(crossings.begin(), crossings.end(), [](double rate) { return rate > 0 && std::isfinite(rate); });
  if (!all_between) return at(last_rate_that_pays(ascending, means));
  for (double& rate : crossings) rate = std::log(rate);
  const MeanInterval interval(crossings);
  Crossover result = at(std::exp(interval.mean));
  if (interval.half_width) {
    result.low = std::exp(interval.mean - *interval.half_width);
    result.high = std::exp(interval.mean + *interval.half_width);
  }
  return result;
}

}  // namespace gradcomp::train

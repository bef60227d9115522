#include "gradcomp/compressors/gaussian_k.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <optional>

#include "gradcomp/compressors/detail/count_search.hpp"
#include "gradcomp/compressors/detail/sparsifier.hpp"

namespace gradcomp::compressors {
namespace {

struct GaussianState final : SparseState {
  GaussianState(const Layout& bucket, double usual, index_t most, const coders::SparseCoding& coding)
      : SparseState(bucket, usual, most, coding, false, spare_of_searches),
        above(tiles),
        probes(layout.segments.size()),
        estimates(layout.segments.size()),
        searches(layout.segments.size()) {}

  index_t scratch_bytes() const override { return SparseState::scratch_bytes() + above.bytes(); }

  kernels::CountAbove above;
  std::vector<kernels::Probes> probes;
  std::vector<std::optional<double>> estimates;  ///< [segments] eta; none: not searched, or it overflowed
  std::vector<CountSearch> searches;
};

/// mean + z std of the signed values, not below 0; of the mean's magnitude unless it is to be as published.
std::optional<double> estimate(const kernels::Moments& moments, index_t elements, double ratio, bool paper) {
  const double n = static_cast<double>(elements), mean = (paper ? moments.sum : std::fabs(moments.sum)) / n;
  const double variance = std::max(0.0, (moments.sum_squares - n * mean * mean) / (n - 1));
  if (!(ratio < 1) || !std::isfinite(variance)) return std::nullopt;
  const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), ratio / 2));
  return std::max(0.0, mean + z * std::sqrt(variance));
}

std::int32_t magnitude_of(double eta) { return kernels::magnitude(static_cast<float>(eta)); }

/// The thresholds that three looks can reach, as a heap: look p is followed by 2 p + 1 (halved) or 2 p + 2 (grown).
kernels::Probes reachable(double eta) {
  kernels::Probes probes = kernels::no_probes;
  double at[7] = {eta};
  for (std::size_t p = 0; p < 3; ++p) at[2 * p + 1] = 0.5 * at[p], at[2 * p + 2] = 1.5 * at[p];
  for (std::size_t p = 0; p < 7; ++p) probes[p] = magnitude_of(at[p]);
  return probes;
}

/// The one of the last look.
std::int32_t last_look(const kernels::Probes& probes, const kernels::Counts& counts, index_t k) {
  std::size_t p = 0;
  for (int look = 1; look < 3; ++look) {
    if (3 * counts[p] < 2 * k) {
      p = 2 * p + 1;
    } else if (3 * counts[p] > 4 * k) {
      p = 2 * p + 2;
    }  // else it stays: later looks see the same
  }
  return probes[p];
}

}  // namespace

class GaussianK final : public Sparsifier {
 public:
  GaussianK(Info info, const Options& options)
      : Sparsifier(std::move(info), options), m_paper(this->options().text("variant") == "paper") {}

 private:
  index_t most_entries(index_t n) const override { return most_sent(target_kept(density().most(), n), n, m_paper); }

  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    return std::make_unique<GaussianState>(layout, density().ratio(), most_kept(layout), coding());
  }

  void search(const Exec& exec, const Source& source, SparseState& state, const Context&) const override {
    auto& own = static_cast<GaussianState&>(state);
    for (std::size_t s = 0; s < own.estimates.size(); ++s) {
      own.estimates[s].reset();
      if (own.open[s] == 0) continue;
      own.estimates[s] = estimate(own.first.moments()[s], own.layout.segments[s].count, own.density, m_paper);
    }
    if (m_paper) {
      look_three_times(exec, source, own);
    } else {
      search_by_counts(exec, source, own);
    }
  }

  static void look_three_times(const Exec& exec, const Source& source, GaussianState& own) {
    for (std::size_t s = 0; s < own.estimates.size(); ++s)
      own.probes[s] = own.estimates[s] ? reachable(*own.estimates[s]) : kernels::no_probes;
    const auto& counts =
        own.above.run(exec, own.tiles, source.accumulated(), own.probes, &own.selector.shortlist(own.tiles, own.first));
    for (std::size_t s = 0; s < own.estimates.size(); ++s)
      if (own.estimates[s]) choose_above(own.requests[s], last_look(own.probes[s], counts[s], own.target[s]));
  }

  static void search_by_counts(const Exec& exec, const Source& source, GaussianState& own) {
    for (std::size_t s = 0; s < own.searches.size(); ++s) {
      own.searches[s] = {};
      if (own.open[s] == 0) continue;
      const index_t k = own.target[s];
      const CountGoal goal{k, (2 * k + 2) / 3, 4 * k / 3, 2 * k, 2};
      const std::int32_t guess = own.estimates[s] ? magnitude_of(*own.estimates[s]) : -1;
      own.searches[s] = {goal, own.first.moments()[s], guess, 1};
    }
    search_thresholds(exec, own.above, own.tiles, source.accumulated(), own.selector.shortlist(own.tiles, own.first),
                      own.searches, own.probes);
    for (std::size_t s = 0; s < own.searches.size(); ++s)
      if (own.searches[s].threshold()) choose_above(own.requests[s], *own.searches[s].threshold());
  }

  bool m_paper;
};

Entry gaussian_k() {
  Info info = sparsifier_info("gaussian_k", "top-k by the threshold of a normal distribution, corrected by counting",
                              "Shi, Chu, Cheung & See, Understanding top-k sparsification, 2019",
                              {ratio_parameter(), variant_parameter("search on the bits of the threshold")});
  info.bytes_formula = "8 kept, kept <= 2 k, k = sum over segments of max(1, floor(ratio n))";
  info.passes = 3;
  return make_entry<GaussianK>(info);
}

}  // namespace gradcomp::compressors

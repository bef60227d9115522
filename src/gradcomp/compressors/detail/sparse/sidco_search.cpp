#include "gradcomp/compressors/detail/sparse/sidco_search.hpp"

#include "gradcomp/compressors/detail/sparse/search_thresholds.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp::compressors {
namespace {

/// The stages of an open segment, before the first stage.
KOKKOS_INLINE_FUNCTION SidcoStages stages_of(const SidcoRule& rule, const SidcoAim& aim,
                                             const kernels::Moments& moments, index_t elements) {
  const index_t k = Kokkos::clamp<index_t>(aim.k, 1, moments.nonzeros - 1);
  return SidcoStages(rule, k, moments, elements, aim.stages);
}

void start_fits(const Exec& exec, const SidcoState& state, const SidcoRule& rule, bool host_looks) {
  const Searched all = state.searched();
  const auto fits = state.fits;
  const auto aims = state.aims;
  kernels::for_few(
      "gradcomp::compressors::sidco_start", exec, state.segments(), host_looks, KOKKOS_LAMBDA(const index_t s) {
        SidcoStages fit;
        if (all.open[s] != 0) {
          fit = stages_of(rule, aims(s), all.moments[s], all.elements[s]);
          fit.start(kernel_quantile(rule.first, fit.first_means(all.moments[s]), fit.first_share()));
        }
        fits(s) = fit;
      });
}

/// sid=gamma: the host makes the first stage, because kernels cannot invert a gamma distribution. On a device the host
/// waits for the moments.
void start_gamma_fits(const Exec& exec, SidcoState& own, const SidcoRule& rule, bool host_looks) {
  auto moments = seen_by_host(own.first.on_device());
  if (!host_looks) {
    read_back(exec, Span<const kernels::Moments>(own.first.on_device()), own.host_moments.data(),
              "gradcomp::compressors::Sidco::search");
    moments = HostSpan<const kernels::Moments>(own.host_moments.data(), own.host_moments.size());
  }
  for (std::size_t s = 0; s < own.host_fits.size(); ++s) {
    SidcoStages& fit = own.host_fits[s] = SidcoStages();
    if (!is_open(own.wanted(s), moments(s)) || moments(s).non_finite > 0) continue;
    fit = stages_of(rule, own.aims(s), moments(s), own.layout.segments[s].count);
    const SampleMeans means = fit.first_means(moments(s));
    fit.start(rule.paper ? paper_gamma_quantile(means, fit.first_share())
                         : tail_quantile(rule.first, means, fit.first_share()));
  }
  Kokkos::deep_copy(exec, own.fits, HostSpan<const SidcoStages>(own.host_fits.data(), own.host_fits.size()));
}

/// Asks for the sums above the thresholds of the segments that are not done.
void ask_tails(const Exec& exec, const SidcoState& state, bool host_looks) {
  const auto fits = state.fits;
  const auto tails = state.tails.tails();
  kernels::for_few(
      "gradcomp::compressors::sidco_ask", exec, state.segments(), host_looks,
      KOKKOS_LAMBDA(const index_t s) { tails.thresholds[s] = fits(s).done() ? -1.0f : fits(s).threshold(); });
}

/// Reads the tails, continues the fits and asks for the next tails.
void advance_fits(const Exec& exec, const float* a, const SidcoState& state) {
  const auto fits = state.fits;
  const auto tails = state.tails.tails();
  state.tails.run(
      exec, state.tiles, a, KOKKOS_LAMBDA(const kernels::Block& block, index_t s) {
        SidcoStages fit = fits(s);
        if (fit.done()) return;
        fit.advance(tails.sum(block, s));
        block.once([&] {
          fits(s) = fit;
          tails.thresholds[s] = fit.done() ? -1.0f : fit.threshold();
        });
      });
}

void choose_fitted(const Exec& exec, const SidcoState& state, bool host_looks) {
  const Searched all = state.searched();
  const auto fits = state.fits;
  const auto searched = state.searched_for;
  kernels::for_few(
      "gradcomp::compressors::sidco_choose", exec, state.segments(), host_looks, KOKKOS_LAMBDA(const index_t s) {
        searched(s) = fits(s).searched() ? 1 : 0;
        if (fits(s).searched()) choose_above(all.selections[s], kernels::magnitude(fits(s).threshold()));
      });
}

}  // namespace

void search_fits(const Exec& exec, const Source& source, SidcoState& state, const SidcoRule& rule, int reads,
                 bool host_looks) {
  if (rule.first == Distribution::gamma) {
    start_gamma_fits(exec, state, rule, host_looks);
  } else {
    start_fits(exec, state, rule, host_looks);
  }
  ask_tails(exec, state, host_looks);
  for (int read = 0; read < reads && !(host_looks && all_done(state.fits)); ++read)
    advance_fits(exec, source.accumulated(), state);
  choose_fitted(exec, state, host_looks);
}

}  // namespace gradcomp::compressors

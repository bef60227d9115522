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

/// The fits of all segments, with what follows from them.
struct Fits {
  explicit Fits(const SidcoState& state)
      : stages(state.fits), tails(state.tails.tails()), all(state.searched()), searched(state.searched_for) {}

  /// Keeps a fit, and asks for its next tail or makes the selection of its segment.
  KOKKOS_INLINE_FUNCTION void set(index_t s, const SidcoStages& fit) const {
    stages(s) = fit;
    tails.thresholds[s] = fit.done() ? -1.0f : fit.threshold();
    if (!fit.done()) return;
    searched(s) = fit.searched() ? 1 : 0;
    if (fit.searched()) choose_above(all.selections[s], kernels::magnitude(fit.threshold()));
  }

  Vector<SidcoStages> stages;
  kernels::Tails tails;
  Searched all;
  Shared<std::int32_t> searched;
};

void start_fits(const Exec& exec, const SidcoState& state, const SidcoRule& rule, bool host_looks) {
  const Fits fits(state);
  const auto aims = state.aims;
  kernels::for_few(
      "gradcomp::compressors::sidco_start", exec, state.segments(), host_looks, KOKKOS_LAMBDA(const index_t s) {
        SidcoStages fit;
        if (fits.all.open[s] != 0) {
          const kernels::Moments& moments = fits.all.moments[s];
          fit = stages_of(rule, aims(s), moments, fits.all.elements[s]);
          fit.start(kernel_quantile(rule.first, fit.first_means(moments), fit.first_share()));
        }
        fits.set(s, fit);
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
  const Fits fits(own);
  kernels::for_few(
      "gradcomp::compressors::sidco_start", exec, own.segments(), host_looks,
      KOKKOS_LAMBDA(const index_t s) { fits.set(s, fits.stages(s)); });
}

/// Reads the tails and continues the fits.
void advance_fits(const Exec& exec, const float* a, const SidcoState& state) {
  const Fits fits(state);
  state.tails.run(
      exec, state.tiles, a, KOKKOS_LAMBDA(const kernels::Block& block, index_t s) {
        SidcoStages fit = fits.stages(s);
        if (fit.done()) return;
        fit.advance(fits.tails.sum(block, s));
        block.once([&] { fits.set(s, fit); });
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
  for (int read = 0; read < reads && !(host_looks && all_done(state.fits)); ++read)
    advance_fits(exec, source.accumulated(), state);
}

}  // namespace gradcomp::compressors

// adaptive_threshold: the quanta of strom with a threshold that follows the gradient, as in Deeplearning4j
// (AdaptiveThresholdAlgorithm); the coding is that of Strom, INTERSPEECH 2015.
//
// Every segment has its own threshold tau, which is a memory. After a step that sent more than ratio_max of the n
// elements, tau is divided by 2^(-1/20) = 0.965936. After a step that sent less than ratio_min, tau is multiplied by
// this factor. Otherwise tau stays as it is. So tau can follow a change of the gradient's scale by a factor of 2 within
// 20 steps. A single entry never counts as too many, and a segment of zeros does not change tau.
//
// `initial` is the first tau, in units of the gradient; Deeplearning4j takes 1e-4. With initial=0, the first gradient
// that is not zero sets tau = mean |a| ln(nonzeros / k), k = n sqrt(ratio_min ratio_max). A double exponential
// distribution has about k values above this tau. So the search does not start with hundreds of dense steps, and C(2^j
// a) = 2^j C(a). Each rank adapts its tau alone, and every payload carries the tau of its sender.
//
// Payload and passes: detail/sparse/quanta.hpp, with one tau per segment: 4 segments + 4 kept bytes (quanta=multi: 2
// kept more).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gradcomp/compressors/detail/sparse/quanta.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

using Limits = std::numeric_limits<float>;
constexpr double decay = 0.96593632892484560;  // 2^(-1/20)

struct AdaptiveState final : QuantaState {
  AdaptiveState(const Layout& bucket, index_t count, bool counts)
      : QuantaState(bucket, count, counts), taus(layout.segments.size()) {}

  Memories memories() override {
    const auto valid = [this] {
      return std::all_of(taus.begin(), taus.end(), [](float tau) { return tau >= 0 && tau <= Limits::max(); });
    };
    return {
        {"thresholds", taus.data(), static_cast<index_t>(taus.size() * sizeof(float)), true, Role::method, -1, valid}};
  }

  std::vector<float> taus;  ///< [segments] thresholds of the next step; 0: not set yet
};

float positive(double tau) { return static_cast<float>(std::clamp<double>(tau, Limits::denorm_min(), Limits::max())); }

/// The threshold above which about k of the nonzeros lie if they have a double exponential distribution.
float fitted(const kernels::Moments& moments, double k) {
  const auto nonzeros = static_cast<double>(moments.nonzeros);
  const auto most = static_cast<double>(Kokkos::bit_cast<float>(moments.max_bits));
  const double mean = std::isfinite(moments.sum_abs) ? moments.sum_abs / nonzeros : most;
  return positive(mean * std::max(0.5, std::log(nonzeros / k)));  // if all may be sent: half the mean
}

/// A first threshold in the gradient's own units makes C depend on the gradient's scale.
Info with_initial(Info info, const ParameterValues& options) {
  info.scale_free = options.real("initial") == 0;
  return info;
}

}  // namespace

class AdaptiveThreshold final : public QuantaMethod {
 public:
  AdaptiveThreshold(Info info, ParameterValues options)
      : QuantaMethod(with_initial(std::move(info), options), options, true),
        m_low(options.real("ratio_min")),
        m_high(options.real("ratio_max")),
        m_initial(options.real("initial")) {
    require(m_low <= m_high, "adaptive_threshold: ratio_min={} is above ratio_max={}; allowed: ratio_min <= ratio_max",
            m_low, m_high);
  }

 private:
  std::unique_ptr<QuantaState> make_state(const Layout& layout) const override {
    return std::make_unique<AdaptiveState>(layout, taus(layout), counts());
  }

  void choose_thresholds(QuantaState& state) const override {
    auto& own = static_cast<AdaptiveState&>(state);
    for (std::size_t s = 0; s < own.taus.size(); ++s) {
      const kernels::Moments& moments = own.first.moments()[s];
      if (own.taus[s] == 0 && moments.nonzeros > 0) {
        const auto n = static_cast<double>(own.layout.segments[s].count);
        own.taus[s] =
            m_initial > 0 ? positive(m_initial) : fitted(moments, std::max(1.0, n * std::sqrt(m_low * m_high)));
      }
    }
    own.thresholds = own.taus;
  }

  void record(QuantaState& state) const override {
    auto& own = static_cast<AdaptiveState&>(state);
    for (std::size_t s = 0; s < own.taus.size(); ++s) {
      if (own.first.moments()[s].nonzeros == 0) continue;
      const auto n = static_cast<double>(own.layout.segments[s].count), kept = static_cast<double>(own.kept[s]);
      if (kept > std::max(1.0, m_high * n)) own.taus[s] = positive(static_cast<double>(own.taus[s]) / decay);
      if (kept < m_low * n) own.taus[s] = positive(static_cast<double>(own.taus[s]) * decay);
    }
  }

  double m_low, m_high, m_initial;
};

Entry adaptive_threshold() {
  Info info =
      quanta_info("adaptive_threshold", "threshold quanta; the threshold adapts to keep the density between two bounds",
                  "Deeplearning4j, AdaptiveThresholdAlgorithm; Strom, INTERSPEECH 2015",
                  {Parameter::real("ratio_min", "0.0001", 0, 1, "density below which the threshold falls", true),
                   Parameter::real("ratio_max", "0.01", 0, 1, "density above which the threshold rises", true),
                   Parameter::real("initial", "0", 0, 1000,
                                   "first threshold, in units of the gradient; 0: fitted to the first gradient")});
  info.bytes_formula = "4 segments + 4 kept (quanta=multi: + 2 kept, padded to 4), kept <= n";
  return make_entry<AdaptiveThreshold>(info);
}

}  // namespace gradcomp::compressors

// strom: entries beyond a static threshold are sent as one quantum +-tau (Strom, Scalable distributed DNN training
// using commodity GPU cloud computing, INTERSPEECH 2015).
//
// a = r + g. If a > tau, +tau is sent; if a < -tau, -tau is sent; r = a - sent. The method needs no statistics, but tau
// is in units of the gradient and must be tuned by hand. The count follows the gradient's scale, up to n (4 n bytes,
// the dense size). With the authors' single quantum, |r| grows without bound while |g| > tau. quanta=multi sends
// floor(|a| / tau) quanta, which leaves |r| < tau (apart from rounding, and with at most 65535 quanta a step). decoded
// + r = a within 1 ulp (unit in the last place) of a. The residual is needed: without feedback everything below tau is
// lost.
//
// Payload and passes: detail/sparse/quanta.hpp, with one tau: 4 + 4 kept bytes (quanta=multi: 2 kept more, padded to
// 4).
#include <algorithm>
#include <limits>
#include <utility>

#include "gradcomp/compressors/detail/sparse/quanta.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

class Strom final : public QuantaMethod {
 public:
  Strom(Info info, ParameterValues options)
      : QuantaMethod(std::move(info), std::move(options), false),
        m_tau(std::max(static_cast<float>(this->options().real("tau")), std::numeric_limits<float>::denorm_min())) {}

 private:
  void choose_thresholds(QuantaState& state) const override {
    std::fill(state.thresholds.begin(), state.thresholds.end(), m_tau);
    state.sent_taus[0] = m_tau;
  }

  float m_tau;
};

Entry strom() {
  Info info = quanta_info(
      "strom", "index and sign of entries beyond a static threshold", "Strom, INTERSPEECH 2015",
      {Parameter::real("tau", "0.01", 0, 1000, "threshold and size of a quantum, in units of the gradient", true)});
  info.scale_free = false;
  info.bytes_formula = "4 + 4 kept (quanta=multi: + 2 kept, padded to 4), kept <= n";
  return make_entry<Strom>(info);
}

}  // namespace gradcomp::compressors

#include "gradcomp/compressors/strom.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "gradcomp/compressors/detail/sparse/quanta.hpp"

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

// Signum with majority vote (Bernstein et al., ICML 2018, algorithm 2; ICLR 2019, algorithm 1): every rank sends the
// signs of its own m = beta m + (1 - beta) g, from m = 0. Estimate, zeros and ties as of sign.
//
// Where a gradient is not finite m stays as it was; elsewhere it follows, also when the step is skipped.
#include "gradcomp/compressors/signum.hpp"

#include "gradcomp/compressors/detail/sign_bits.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::Warp;

/// Moves m, and reads it.
struct MomentumRows {
  Source source;
  float* momentum;
  float beta;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t i, int active, Lanes<float>& m,
                                              Lanes<std::int32_t>& bad) const {
    Lanes<float> g;
    kernels::load_row(warp, source.gradient + i, active, g);
    kernels::load_row(warp, momentum + i, active, m);
    warp.each([&](int l) {
      const bool good = Source::is_finite(g[l]);
      const float moved = beta * m[l] + (1 - beta) * g[l];
      m[l] = good ? moved : m[l];
      bad[l] += good ? 0 : 1;
    });
    kernels::store_row(warp, momentum + i, active, m);
  }
};

class Signum final : public SignBits {
 public:
  Signum(Info info, const Options& options)
      : SignBits(std::move(info), options), m_beta(static_cast<float>(options.real("beta"))) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<SignBitsState>(layout, payload_capacity(layout), true);
  }

 protected:
  bool encode(const Exec& exec, const Source& source, State& state, const Context&,
              std::byte* sections) const override {
    const auto& own = static_cast<SignBitsState&>(state);
    return kernels::write_signs(exec, own.pieces, MomentumRows{source, own.momentum.data(), m_beta}, source, {},
                                reinterpret_cast<std::uint32_t*>(sections)) == 0;
  }

 private:
  float m_beta;
};

}  // namespace

Entry signum() {
  Info info = sign_info();
  info.name = "signum";
  info.summary =
      "one bit per element of a running mean of the gradients; the estimate is the sign that most ranks have";
  info.paper = "Bernstein et al., signSGD, ICML 2018; signSGD with majority vote, ICLR 2019";
  info.parameters = {Parameter::real("beta", "0.9", 0, 0.9999, "share of the old mean in m = beta m + (1 - beta) g")};
  info.passes = 3.03;
  return make_entry<Signum>(info);
}

}  // namespace gradcomp::compressors

// Signum with majority vote (Bernstein et al., ICML 2018, algorithm 2; ICLR 2019, algorithm 1): every rank sends the
// signs of its own m = beta m + (1 - beta) g; m is 0 at the start. The estimate, zeros and ties are those of sign.
//
// If a gradient element is not finite, its m stays as it was.
#include "gradcomp/compressors/detail/levels/sign_bits.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

using kernels::Lanes;
using kernels::Warp;

/// Updates m and passes it to the coder of signs.
struct MomentumRows {
  Source source;
  float* momentum;
  float beta;

  template <class Code>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t i, index_t count, Lanes<std::int32_t>& bad,
                                              const Code& code) const {
    const float kept = beta, taken = 1 - beta;
    for (index_t e = 0; e < count; e += kernels::warp_lanes) {
      const float* const g = source.gradient + i + e;
      float* const m = momentum + i + e;
      const int row = static_cast<int>(e / kernels::warp_lanes);
      const auto move = [&](int l) {
        const bool good = Source::is_finite(g[l]);
        const float moved = good ? kept * m[l] + taken * g[l] : m[l];
        m[l] = moved;
        bad[l] += good ? 0 : 1;
        code(l, moved, row);
      };
      if (count - e >= kernels::warp_lanes) {
        warp.each(move);
      } else {
        warp.each([&](int l) {
          if (e + l < count) {
            move(l);
          } else {
            code(l, 0.0f, row);
          }
        });
      }
    }
  }
};

class Signum final : public SignBits {
 public:
  Signum(Info info, const ParameterValues& options)
      : SignBits(std::move(info), options), m_beta(static_cast<float>(options.real("beta"))) {}

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<SignBitsState>(layout, payload_capacity(layout), true);
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    const auto& own = state.as<SignBitsState>();
    kernels::write_signs(exec, own.pieces, MomentumRows{step.source, own.momentum.data(), m_beta}, {}, own.mark(),
                         reinterpret_cast<std::uint32_t*>(sections));
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
  info.parameters.insert(
      info.parameters.begin(),
      Parameter::real("beta", "0.9", 0, 0.9999, "share of the old mean in m = beta m + (1 - beta) g"));
  info.compress = {1, 0, 1};
  return make_entry<Signum>(info);
}

}  // namespace gradcomp::compressors

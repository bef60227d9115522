// signSGD with majority vote (Bernstein, Wang, Azizzadenesheli, Anandkumar, ICML 2018; Bernstein, Zhao,
// Azizzadenesheli, Anandkumar, ICLR 2019, algorithm 1 with beta = 0).
//
// The bit of an element is a < 0: zeros of both signs count as +. The estimate is -1 if more than half of the ranks
// have the bit set, and +1 if fewer do. The option `ties` decides ties, which occur if the number of ranks is even
// (exchange/detail/ties.hpp). Magnitudes are lost, so the learning rate is that of the authors' experiments, about 1e-3
// of SGD's. There is no error feedback, because without a magnitude it is unknown how much was sent; ef_sign sends one.
#include "gradcomp/compressors/detail/levels/sign_bits.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

class Sign final : public SignBits {
 public:
  using SignBits::SignBits;

 protected:
  std::unique_ptr<DenseState> make_state(const Layout& layout) const override {
    return std::make_unique<SignBitsState>(layout, payload_capacity(layout), false);
  }
  void encode(const Exec& exec, const Step& step, DenseState& state, std::byte* sections) const override {
    const auto& own = state.as<SignBitsState>();
    kernels::write_signs(exec, own.pieces, kernels::FirstRows{step.source}, {}, own.mark(),
                         reinterpret_cast<std::uint32_t*>(sections));
  }
};

}  // namespace

Entry sign() {
  Info info = sign_info();
  info.name = "sign";
  info.summary = "one bit per element; the estimate is the sign that most ranks have";
  info.paper = "Bernstein et al., signSGD, ICML 2018; signSGD with majority vote, ICLR 2019";
  return make_entry<Sign>(info);
}

}  // namespace gradcomp::compressors

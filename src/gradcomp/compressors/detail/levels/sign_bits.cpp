#include "gradcomp/compressors/detail/levels/sign_bits.hpp"

namespace gradcomp::compressors {

Memories SignBitsState::memories() {
  if (momentum.data() == nullptr) return {};
  return {{"momentum", momentum.data(), static_cast<index_t>(momentum.size()) * size_of(DType::f32), false}};
}

void SignBits::decode(const Exec& exec, const Sections& sections, DenseState& state, const Span<float>& out) const {
  kernels::add_signs(exec, state.as<SignBitsState>().pieces, reinterpret_cast<const std::uint32_t*>(sections.at), {},
                     sections.weight, sections.admission, true, out);
}

Info sign_info() {
  Info info;
  info.family = Info::Family::quantiser;
  info.property = Info::Property::sign;
  info.rounds = {MessageKind::bytes};
  info.reducer = "vote";
  info.votes = true;
  info.feedbacks = {"none"};
  info.scale_free = false;  // no magnitude is sent
  info.parameters = {Parameter::choice("ties", "alternating", {"alternating", "positive"},
                                       "sign of elements whose vote is tied; alternating: minus for one half of them, "
                                       "in the next step for the other half; positive: always plus, as in BytePS")};
  info.learning_rate_scale = 1e-3;
  info.bytes_formula = "4 ceil(n / 32)";
  return info;
}

}  // namespace gradcomp::compressors

#include "gradcomp/compressors/natural.hpp"

#include "gradcomp/compressors/detail/levels/coded.hpp"

namespace gradcomp::compressors {
namespace {

struct NaturalScheme {
  using Codec = kernels::PowerCodec;
  static constexpr const char* remedy = "any feedback";
  Codec codec;
  index_t length = 0;
  int bits = 8;
  bool shrinks = false;

  static NaturalScheme from(const ParameterValues& options) {
    NaturalScheme scheme;
    scheme.bits = static_cast<int>(options.integer("bits"));
    if (scheme.bits == 9) scheme.codec = {0, 254, 9};
    return scheme;
  }
  double excess(index_t) const { return 0.125; }
};

/// The range of bits=8 is a constant in units of the gradient.
Info with_bits(Info info, const ParameterValues& options) {
  info.scale_free = options.text("bits") == "9";
  return info;
}

}  // namespace

Entry natural() {
  Info info;
  info.name = "natural";
  info.summary = "magnitudes rounded stochastically to powers of two: sign and exponent, 8 or 9 bits";
  info.paper = "Horvath et al., Natural compression for distributed deep learning, MSML 2022";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::unbiased;
  info.scale_free = false;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.stripes = true;
  info.parameters = {
      Parameter::choice("bits", "8", {"8", "9"}, "8: magnitudes 2^-108 .. 2^18; 9: all exponents of a float")};
  info.bytes_formula = "sum over tensors of ceil(n bits / 8)";
  info.passes = 1.25;
  return {info, [info](const ParameterValues& options) -> std::unique_ptr<Compressor> {
            return std::make_unique<Coded<NaturalScheme>>(with_bits(info, options), options);
          }};
}

}  // namespace gradcomp::compressors

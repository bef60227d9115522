// natural: stochastic rounding of every magnitude to one of the two powers of two around it (natural compression;
// Horvath, Ho, Horvath, Sahu, Canini, Richtarik, MSML 2022).
//
// |a| = 2^E (1 + m) becomes 2^(E+1) with probability m, otherwise 2^E: random bits are added to the mantissa, and the
// exponent is kept. It is unbiased in range, and E||C(a) - a||^2 <= w ||a||^2 with w = 1/8 (reached at m = 1/3). Powers
// of two are exact. No element depends on another one.
//   bits=9: sign and the float's 8 exponent bits. Magnitudes go up to 2^127 (1.7e38; larger ones saturate). Smaller
//           ones than 2^-126 are rounded to 0 or 2^-126, still unbiased.
//   bits=8: sign and 7 bits e; 0 is zero, e > 0 is 2^(e - 109): magnitudes 2^-108 .. 2^18 = 262144. Smaller ones are
//           rounded to 0 or 2^-108, still unbiased. Larger ones saturate, which is a bias that a residual makes up for.
// Zero decodes to +0. NaN and infinity flag the step. Since w < 1, the method converges with a residual as it is. It is
// not scaled by 1/(1+w) = 8/9, so that decoded values stay powers of two.
//
// Payload: vertical words of codes, sign above exponent (kernels/quantise/code_plan.hpp); n bytes or ceil(9 n / 8) for
// each segment. Passes (R: read, W: write): 1R + 1/4 W; with a residual 2R + 2W, one each of them in cache.
#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/core/registry.hpp"

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
  return {info, [info](const ParameterValues& options) -> std::unique_ptr<Compressor> {
            return std::make_unique<Coded<NaturalScheme>>(with_bits(info, options), options);
          }};
}

}  // namespace gradcomp::compressors

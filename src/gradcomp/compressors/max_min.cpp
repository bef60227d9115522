// max_min: uniform levels between the smallest and the largest element of each group (the max-min quantiser of
// torch_cgx; CGX: Markov, Ramezanikebrya, Alistarh, Middleware 2022).
//
// s = 2^bits - 1, unit = (high - low) / s, q = floor((a - low) / unit + r), where r is uniform in [0, 1)
// (rounding=stochastic, unbiased) or 1/2 (rounding=nearest). Decoded: low (1 - t) + high t, t = q / s. The variance of
// an element is unit^2 f (1 - f), f the fraction. As (high - low)^2 <= 2 ||a||^2, w <= B / (2 s^2) for a group of B
// elements. Zero is a level only if low or high is 0, so sparse gradients gain noise. A group of equal elements is
// exact. A difference high - low below 2^-90 is widened to 2^-90 (still unbiased).
//
// With a residual, low and high are divided by 1 + w (scale=auto). rounding=nearest has ||C(a) - a||^2 <= w ||a||^2 for
// every a and is not scaled. Without scaling, a feedback is refused if w >= 1. NaN and infinity flag the step.
//
// Payload: f32 low and high of every group, then the codes (kernels/quantise/code_plan.hpp). Passes (R: read, W:
// write): 2R + bits/32 W; with a residual 3R + 2W.
#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

struct RangeScale {
  KOKKOS_INLINE_FUNCTION void operator()(const kernels::Range& range, float* own) const {
    own[0] = range.low + 0.0f;  // -0 becomes +0
    own[1] = range.high + 0.0f;
    const bool narrow = range.high > range.low && range.high - range.low < kernels::smallest_norm;
    if (narrow) own[1] = range.low + kernels::smallest_norm;
  }
};

struct MaxMinScheme {
  using Codec = kernels::UniformCodec;
  static constexpr const char* remedy = "rounding=stochastic with scale=auto, more bits, smaller groups";
  Codec codec;
  index_t length = 512;
  int bits = 4;
  bool shrinks = true;
  RangeScale scales;

  static MaxMinScheme from(const ParameterValues& options) {
    MaxMinScheme scheme;
    scheme.bits = static_cast<int>(options.integer("bits"));
    scheme.codec = {(1 << scheme.bits) - 1, options.text("rounding") == "nearest"};
    scheme.length = group_length(options);
    scheme.shrinks = !scheme.codec.nearest && options.text("scale") == "auto";
    return scheme;
  }
  KOKKOS_INLINE_FUNCTION double excess(index_t n) const {
    const auto s = static_cast<double>(codec.levels);
    return static_cast<double>(n) / (2 * s * s);
  }
};

Info with_rounding(Info info, const ParameterValues& options) {
  if (options.text("rounding") == "nearest") info.property = Info::Property::contraction;
  return info;
}

}  // namespace

Entry max_min() {
  Info info;
  info.name = "max_min";
  info.summary = "uniform levels between the smallest and the largest element of a group";
  info.paper = "Markov, Ramezanikebrya & Alistarh, CGX, Middleware 2022";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::unbiased;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.stripes = true;
  info.granule = 8192;  // a multiple of every group
  info.parameters = {
      Parameter::choice("bits", "4", {"1", "2", "3", "4", "8"}, "bits per element; 2^bits levels"),
      group_parameter("512"),
      Parameter::choice("rounding", "stochastic", {"stochastic", "nearest"},
                        "nearest: biased, but half the largest error"),
      scale_parameter(),
  };
  info.bytes_formula = "sum over tensors of 8 ceil(n / group) + ceil(n bits / 8)";
  info.compress = {2, 0, 0};
  return {info, [info](const ParameterValues& options) -> std::unique_ptr<Compressor> {
            return std::make_unique<Coded<MaxMinScheme>>(with_rounding(info, options), options);
          }};
}

}  // namespace gradcomp::compressors

#pragma once
// Scales that quantisers take from the statistics of a group, and bounds of the variance.
#include <string>
#include <vector>

#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/compressors/detail/levels/elias_stage.hpp"
#include "gradcomp/core/options.hpp"
#include "gradcomp/kernels/quantise/codecs.hpp"
#include "gradcomp/kernels/quantise/group_ranges.hpp"

namespace gradcomp::compressors {

/// v = max |a| or ||a||_2, limited to the bounds in kernels/quantise/codecs.hpp; 0 for a group of zeros.
struct NormScale {
  bool max_norm = true;

  KOKKOS_INLINE_FUNCTION void operator()(const kernels::Range& range, float* own) const {
    const float largest = range.largest();
    own[0] = kernels::bounded_norm(max_norm ? largest : static_cast<float>(Kokkos::sqrt(range.squares)), largest);
  }
};

/// w for s levels between 0 and v <= ||a||_2, and n elements. The variance of an element is (v/s)^2 f (1 - f), which is
/// at most (v/s)^2 / 4 and at most |a| v / s.
KOKKOS_INLINE_FUNCTION double linear_excess(double levels, double n) {
  const double by_levels = n / (4 * levels * levels), by_sum = Kokkos::sqrt(n) / levels;
  return by_levels < by_sum ? by_levels : by_sum;
}

/// Options of the dithering methods.
inline std::vector<Parameter> dithering_parameters(const std::string& bits, const std::string& levels) {
  return {
      Parameter::choice("bits", bits, {"2", "3", "4", "8"}, "bits per element"),
      Parameter::integer("levels", "0", 0, 127, levels),
      group_parameter("tensor"),
      Parameter::choice("norm", "max", {"max", "l2"}, "norm v of a group"),
      scale_parameter(),
      coding_parameter("delta"),
  };
}
inline int levels_of(const ParameterValues& options) {
  const index_t levels = options.integer("levels");
  return static_cast<int>(levels > 0 ? levels : (index_t{1} << (options.integer("bits") - 1)) - 1);
}

/// The Scheme of Coded for levels of a norm, with the options of dithering_parameters(). Excess::of(levels, n) is w.
template <class LevelCodec, class Excess>
struct DitheringScheme {
  using Codec = LevelCodec;
  static constexpr const char* remedy = "scale=auto, more bits, smaller groups";
  Codec codec;
  index_t length = 0;
  int bits = 8;
  bool shrinks = true;
  NormScale scales;

  static DitheringScheme from(const ParameterValues& options) {
    DitheringScheme scheme;
    scheme.codec.levels = levels_of(options);
    scheme.bits = kernels::signed_code_bits(scheme.codec.levels);
    scheme.length = group_length(options);
    scheme.shrinks = options.text("scale") == "auto";
    scheme.scales.max_norm = options.text("norm") == "max";
    return scheme;
  }
  KOKKOS_INLINE_FUNCTION double excess(index_t n) const {
    return Excess::of(static_cast<double>(codec.levels), static_cast<double>(n));
  }
};

/// The registry entry of a method with such a Scheme, for both values of `coding`.
template <class Scheme>
Entry dithering_entry(const Info& info) {
  return {info, [info](const ParameterValues& options) -> std::unique_ptr<Compressor> {
            auto fixed = std::make_unique<Coded<Scheme>>(info, options);
            if (options.text("coding") == "fixed") return fixed;
            const Scheme scheme = Scheme::from(options);
            return std::make_unique<EliasStage<typename Scheme::Codec>>(
                std::move(fixed), scheme.codec, FixedCoding{scheme.length, scheme.bits, kernels::EliasCode::delta});
          }};
}

/// The part of Info that the dithering methods have in common.
inline Info dithering_info(const std::string& bits, const std::string& levels) {
  Info info;
  info.family = Info::Family::quantiser;
  info.property = Info::Property::unbiased;
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.stripes = true;
  info.granularity = "tensor";
  info.granule = 8192;  // a multiple of every group
  info.parameters = dithering_parameters(bits, levels);
  return info;
}

}  // namespace gradcomp::compressors

#include "gradcomp/compressors/natural_dithering.hpp"

#include "gradcomp/compressors/detail/coded.hpp"
#include "gradcomp/compressors/detail/norms.hpp"

namespace gradcomp::compressors {
namespace {

struct NaturalDitheringScheme {
  using Codec = kernels::PowerDitherCodec;
  static constexpr const char* remedy = "scale=auto, more bits, smaller buckets";
  Codec codec;
  index_t length = 0;
  int bits = 4;
  bool shrinks = true;
  NormScale scales;

  static NaturalDitheringScheme from(const Options& options) {
    NaturalDitheringScheme scheme;
    scheme.codec.levels = levels_of(options);
    scheme.bits = bits_of(scheme.codec.levels);
    scheme.length = bucket_length(options);
    scheme.shrinks = options.text("scale") == "auto";
    scheme.scales.max_norm = options.text("norm") == "max";
    return scheme;
  }
  KOKKOS_INLINE_FUNCTION double excess(index_t n) const {
    const double smallest = Kokkos::exp2(1.0 - static_cast<double>(codec.levels));
    const double by_levels = 0.25 * smallest * smallest * static_cast<double>(n);
    const double by_sum = Kokkos::sqrt(static_cast<double>(n)) * smallest;
    return 0.125 + (by_levels < by_sum ? by_levels : by_sum);
  }
};

}  // namespace

Entry natural_dithering() {
  Info info;
  info.name = "natural_dithering";
  info.summary = "unbiased stochastic rounding to powers of two of a tensor's norm";
  info.paper = "Horvath et al., Natural compression for distributed deep learning, MSML 2022";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::unbiased;
  info.rounds = {MessageKind::bytes};
  info.reducers = {"allgather"};
  info.granule = 8192;  // a multiple of every bucket
  info.parameters = dithering_parameters("4", "k; 0: 2^(bits - 1) - 1");
  info.bytes_formula =
      "sum over tensors of 4 ceil(n / bucket) + ceil(n b / 8), b = ceil(log2(2 k + 1)); bucket=tensor: 4 + ..., empty "
      "ones 0";
  info.passes = 2.125;
  return make_entry<Coded<NaturalDitheringScheme>>(info);
}

}  // namespace gradcomp::compressors

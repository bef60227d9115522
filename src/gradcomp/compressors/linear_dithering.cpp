#include "gradcomp/compressors/linear_dithering.hpp"

#include "gradcomp/compressors/detail/coded.hpp"
#include "gradcomp/compressors/detail/norms.hpp"

namespace gradcomp::compressors {
namespace {

struct LinearScheme {
  using Codec = kernels::LinearCodec;
  static constexpr const char* remedy = "scale=auto, more bits, smaller buckets";
  Codec codec;
  index_t length = 0;
  int bits = 8;
  bool shrinks = true;
  NormScale scales;

  static LinearScheme from(const Options& options) {
    LinearScheme scheme;
    scheme.codec.levels = levels_of(options);
    scheme.bits = bits_of(scheme.codec.levels);
    scheme.length = bucket_length(options);
    scheme.shrinks = options.text("scale") == "auto";
    scheme.scales.max_norm = options.text("norm") == "max";
    return scheme;
  }
  KOKKOS_INLINE_FUNCTION double excess(index_t n) const {
    return linear_excess(static_cast<double>(codec.levels), static_cast<double>(n));
  }
};

}  // namespace

Entry linear_dithering() {
  Info info;
  info.name = "linear_dithering";
  info.summary = "unbiased stochastic rounding to equally spaced levels of a tensor's norm";
  info.paper = "Alistarh et al., QSGD, NeurIPS 2017; Jiang et al., BytePS, OSDI 2020";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::unbiased;
  info.rounds = {MessageKind::bytes};
  info.reducers = {"allgather"};
  info.granule = 8192;  // a multiple of every bucket
  info.parameters = dithering_parameters("8", "s; 0: 2^(bits - 1) - 1");
  info.bytes_formula =
      "sum over tensors of 4 ceil(n / bucket) + ceil(n b / 8), b = ceil(log2(2 s + 1)); bucket=tensor: 4 + ..., empty "
      "ones 0";
  info.passes = 2.25;
  return make_entry<Coded<LinearScheme>>(info);
}

}  // namespace gradcomp::compressors

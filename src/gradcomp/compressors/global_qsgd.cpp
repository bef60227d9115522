#include "gradcomp/compressors/global_qsgd.hpp"

#include "gradcomp/compressors/detail/levels/norms.hpp"
#include "gradcomp/compressors/detail/levels/summed_levels.hpp"

namespace gradcomp::compressors {
namespace {

struct GlobalScheme {
  using Codec = kernels::LinearCodec;
  static constexpr int max_levels = 32767;
  static constexpr const char* remedy = "scale=auto, more bits, smaller groups";
  index_t length = 512;
  int sum_bits = 8;
  bool shrinks = true;
  NormScale scales;

  static GlobalScheme from(const ParameterValues& options) {
    GlobalScheme scheme;
    scheme.length = group_length(options);
    scheme.sum_bits = static_cast<int>(options.integer("bits"));
    scheme.shrinks = options.text("scale") == "auto";
    scheme.scales.max_norm = options.text("norm") == "max";
    return scheme;
  }
  KOKKOS_INLINE_FUNCTION double excess(index_t) const { return 0; }  // for write_scales(), which does not shrink here
  double excess(int levels, double n) const { return linear_excess(static_cast<double>(levels), n); }
};

}  // namespace

Entry global_qsgd() {
  Info info;
  info.name = "global_qsgd";
  info.summary = "stochastic rounding to levels of a norm that all ranks share, summed as 4-, 8- or 16-bit integers";
  info.paper = "Xin et al., Global-QSGD, EuroMLSys 2023";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::unbiased;
  info.rounds = {MessageKind::summable, MessageKind::summable};
  info.reducer = "allreduce";
  info.granule = 8192;  // a multiple of every group
  info.parameters = {
      Parameter::choice("bits", "8", {"4", "8", "16"}, "bits of the sum of all ranks' levels; 4: for at most 7 ranks"),
      group_parameter("512"),
      Parameter::choice("norm", "max", {"max", "l2"}, "norm of a group; the largest over all ranks is used"),
      scale_parameter(),
  };
  info.bytes_formula =
      "n + sum over tensors of 4 ceil(n / group); group=tensor: 4 per tensor that is not empty; bits=4, 16: in place "
      "of "
      "n, sum over tensors of 128 ceil(n / 256), 128 ceil(n / 64)";
  info.passes = 2.25;
  return make_entry<SummedLevels<GlobalScheme>>(info);
}

}  // namespace gradcomp::compressors

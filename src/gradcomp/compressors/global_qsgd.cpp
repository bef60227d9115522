// global_qsgd: QSGD whose norms and levels are the same on all ranks, so that an integer allreduce adds the levels
// (global-QSGD with uniform dithering; Xin, Canini, Richtarik, Horvath, EuroMLSys 2023). W is the number of ranks, B
// the number of elements of a group.
//
// Round 0: M = the maximum over ranks of each group's norm (max |a| or the L2 norm), f32.
// Round 1: q = L a / M, rounded stochastically, in -L .. L, summed as i8. L = floor(127 / W), so that L W <= 127 and no
// sum wraps for any number of ranks; more than 127 ranks are refused. (The authors' hook scales to 127 / W and rounds
// up; W ceil(127 / W) = 128 for W = 2, 4, .. 64, which wraps to -128.) bits=4 and bits=16 sum fields of i32
// (kernels/pack/packed_levels.hpp) with L = floor(7 / W), for at most 7 ranks, and L = floor(32767 / W).
//
// out = M / (L W) * sum. It is unbiased; the variance of one rank's element is (M/L)^2 f (1 - f), f the fraction of L
// |a| / M. With 8 bits L is 63 for 2 ranks, 31 for 4, 7 for 16 and 1 from 64 ranks on; with 4 bits it is 3 for 2 ranks,
// 2 for 3 and 1 from 4 ranks on.
//
// With a residual, decoded values are divided by 1 + w (scale=auto), w <= min(W B / (4 L^2), sqrt(W B) / L). This w is
// that of all ranks' residuals together, because their norm bounds M. scale=none refuses a feedback if w >= 1. A group
// that is zero on all ranks is exact. NaN and infinity: detail/levels/summed_levels.hpp.
//
// Passes (R: read, W: write): 2R + 1/4 W (bits=4: 1/8, bits=16: 1/2), 1/4 R + 1W to decode; with a residual 3R + 2W.
#include "gradcomp/compressors/detail/levels/norms.hpp"
#include "gradcomp/compressors/detail/levels/summed_levels.hpp"
#include "gradcomp/core/registry.hpp"

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
  info.compress = {2, 0, 0};
  return make_entry<SummedLevels<GlobalScheme>>(info);
}

}  // namespace gradcomp::compressors

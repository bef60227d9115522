#include "gradcomp/compressors/terngrad.hpp"

#include "gradcomp/compressors/detail/levels/summed_levels.hpp"
#include "gradcomp/compressors/detail/levels/ternary.hpp"

namespace gradcomp::compressors {
namespace {

/// The Scheme of both Coded (code=2bit) and SummedLevels (code=sum).
struct TernaryScheme {
  using Codec = kernels::LinearCodec;
  static constexpr int max_levels = 1, sum_bits = 8;
  static constexpr const char* remedy = "another method";
  Codec codec;
  index_t length = 0;
  int bits = 2;
  bool shrinks = false;
  TernaryScale scales;

  static TernaryScheme from(const ParameterValues& options) {
    TernaryScheme scheme;
    scheme.scales.clip = options.real("clip");
    return scheme;
  }
  KOKKOS_INLINE_FUNCTION double excess(index_t n) const { return linear_excess(1, static_cast<double>(n)); }
  double excess(int levels, double n) const { return linear_excess(static_cast<double>(levels), n); }
};

std::unique_ptr<Compressor> make_terngrad(Info info, const ParameterValues& options) {
  const std::string& code = options.text("code");
  info.property = options.real("clip") > 0 ? Info::Property::contraction : Info::Property::unbiased;
  if (code == "sum") return std::make_unique<SummedLevels<TernaryScheme>>(info, options);
  info.rounds = {MessageKind::bytes};
  info.reducer = "allgather";
  info.stripes = true;
  if (code == "base3") return make_base3_ternary(info, options);
  return std::make_unique<Coded<TernaryScheme>>(info, options);
}

}  // namespace

Entry terngrad() {
  Info info;
  info.name = "terngrad";
  info.summary =
      "-s, 0 or +s for each element, after clipping at 2.5 standard deviations; all ranks share the scaler s";
  info.paper = "Wen et al., TernGrad, NeurIPS 2017";
  info.family = Info::Family::quantiser;
  info.property = Info::Property::contraction;  // on average: E[decoded] = clip(a)
  info.rounds = {MessageKind::summable, MessageKind::summable};
  info.reducer = "allreduce";
  info.feedbacks = {"none"};
  info.granularity = "tensor";
  info.parameters = {
      Parameter::real("clip", "2.5", 0, 100,
                      "standard deviations beyond which elements are clipped; 0: no clipping, unbiased"),
      Parameter::choice("code", "sum", {"sum", "2bit", "base3"},
                        "sum: shared scaler, integer sums; 2bit, base3: a scaler for each rank, gathered, 4 or 5 "
                        "elements per byte"),
  };
  info.bytes_formula = "sum over tensors that are not empty of n + 4 (2bit: ceil(n / 4) + 4, base3: ceil(n / 5) + 4)";
  info.passes = 2.25;
  return {info, [info](const ParameterValues& options) { return make_terngrad(info, options); }};
}

}  // namespace gradcomp::compressors

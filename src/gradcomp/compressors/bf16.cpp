// bf16: the dense control in bfloat16.
//
// Message: n values a / W (W ranks), rounded to nearest even. Their sum is the mean; Transport::sum() says how the
// transport forms it. The division comes before the cast, so the mean cannot overflow: if |a| exceeds the largest
// finite value of the format, a / W saturates at that value / W. Only a gradient that is not finite ends the run.
// Rounding error of one value: at most half a unit, 2^-8 relative, in the whole range of normal floats. Feedback (off
// by default): the residual keeps a - W decode(sent), exactly. Bytes: 2 n. Passes: 1 read, 1/2 write.
#include "gradcomp/compressors/detail/dense/cast_control.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry bf16() {
  Info info;
  info.name = "bf16";
  info.summary = "dense allreduce in bfloat16; values are divided by the number of ranks before the cast";
  info.paper = "Kalamkar et al., A study of BFLOAT16 for deep learning training, arXiv:1905.12322, 2019";
  info.family = Info::Family::control;
  info.property = Info::Property::rounding;
  info.rounds = {MessageKind::summable};
  info.reducer = "allreduce";
  info.in_place = true;
  info.parameters = {rounding_parameter()};
  info.bytes_formula = "2 n";
  return make_entry<CastControl<kernels::Bfloat>>(info);
}

}  // namespace gradcomp::compressors

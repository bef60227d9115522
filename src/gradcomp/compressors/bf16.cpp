#include "gradcomp/compressors/bf16.hpp"

#include "gradcomp/compressors/detail/dense/cast_control.hpp"

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
  info.passes = 1.5;
  return make_entry<CastControl<kernels::Bfloat>>(info);
}

}  // namespace gradcomp::compressors

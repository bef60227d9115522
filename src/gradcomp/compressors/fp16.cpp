#include "gradcomp/compressors/fp16.hpp"

#include "gradcomp/compressors/detail/dense/cast_control.hpp"

namespace gradcomp::compressors {

Entry fp16() {
  Info info;
  info.name = "fp16";
  info.summary =
      "dense allreduce in IEEE half precision; values are divided by the number of ranks before the cast and saturate "
      "at 65504";
  info.paper = "Micikevicius et al., Mixed precision training, ICLR 2018";
  info.family = Info::Family::control;
  info.property = Info::Property::rounding;
  info.rounds = {MessageKind::summable};
  info.reducer = "allreduce";
  info.in_place = true;
  info.parameters = {rounding_parameter()};
  info.bytes_formula = "2 n";
  info.passes = 1.5;
  return make_entry<CastControl<kernels::Half>>(info);
}

}  // namespace gradcomp::compressors

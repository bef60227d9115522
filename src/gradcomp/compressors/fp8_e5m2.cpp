// fp8_e5m2: every element as an E5M2 8-bit float, with one power of two per tensor as scale
// (detail/dense/float8_cast.hpp).
#include "gradcomp/compressors/detail/dense/float8_cast.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry fp8_e5m2() {
  return make_entry<Float8Cast<kernels::E5M2>>(float8_info(
      "fp8_e5m2",
      "8-bit floats with 2 bits of mantissa, scaled per tensor by a power of two; largest value 57344, relative error "
      "2^-3"));
}

}  // namespace gradcomp::compressors

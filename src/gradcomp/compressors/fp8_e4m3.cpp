// fp8_e4m3: every element as an E4M3 8-bit float, with one power of two per tensor as scale
// (detail/dense/float8_cast.hpp).
#include "gradcomp/compressors/detail/dense/float8_cast.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

Entry fp8_e4m3() {
  return make_entry<Float8Cast<kernels::E4M3>>(float8_info(
      "fp8_e4m3",
      "8-bit floats with 3 bits of mantissa, scaled per tensor by a power of two; largest value 448, relative error "
      "2^-4"));
}

}  // namespace gradcomp::compressors

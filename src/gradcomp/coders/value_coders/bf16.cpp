// bf16: each value in 2 bytes (kernels/quantise/casts.hpp), clamped to the largest number of bfloat16; then zero bytes
// up to a multiple of 4.
#include "gradcomp/coders/halves.hpp"
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry bf16() {
  return coders::halves_entry<kernels::Bfloat>("bf16", 2, "the upper half of a float, rounded");
}

}  // namespace gradcomp::value_coders

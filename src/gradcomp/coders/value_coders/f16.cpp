// f16: each value in 2 bytes (kernels/quantise/casts.hpp), clamped to the largest number of IEEE binary16; then zero
// bytes up to a multiple of 4.
#include "gradcomp/coders/halves.hpp"
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry f16() { return coders::halves_entry<kernels::Half>("f16", 1, "IEEE half-precision"); }

}  // namespace gradcomp::value_coders

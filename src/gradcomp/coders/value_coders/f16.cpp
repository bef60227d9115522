#include "gradcomp/coders/value_coders/f16.hpp"

#include "gradcomp/coders/halves.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry f16() { return coders::halves_entry<kernels::Half>("f16", 1, "IEEE half-precision"); }

}  // namespace gradcomp::value_coders

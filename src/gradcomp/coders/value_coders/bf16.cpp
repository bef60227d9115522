#include "gradcomp/coders/value_coders/bf16.hpp"

#include "gradcomp/coders/halves.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry bf16() {
  return coders::halves_entry<kernels::Bfloat>("bf16", 2, "the upper half of a float, rounded");
}

}  // namespace gradcomp::value_coders

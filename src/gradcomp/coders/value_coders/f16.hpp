#pragma once
// f16: 2 bytes each (kernels/quantise/casts.hpp), zero bytes to a multiple of 4; clamped to the largest number of IEEE
// binary16.
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry f16();

}  // namespace gradcomp::value_coders

#pragma once
// f16: each value in 2 bytes (kernels/quantise/casts.hpp), clamped to the largest number of IEEE binary16; then zero
// bytes up to a multiple of 4.
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry f16();

}  // namespace gradcomp::value_coders

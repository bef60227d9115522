#pragma once
// int8: blocks of 256 values: the scales s of all blocks as floats, then one signed byte q each (decoded q s), zero
// bytes to a multiple of 4. s = max|v| / 127, q = v / s to nearest, ties to even: |v - q s| <= s / 2 but for rounding.
// A block whose s underflows to zero (max|v| < 2^-143) decodes to zeros.
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry int8();

}  // namespace gradcomp::value_coders

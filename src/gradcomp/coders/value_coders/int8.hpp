#pragma once
// int8: blocks of 256 values. First come the scales s of all blocks as floats, then one signed byte q per value, which
// is decoded to q s, then zero bytes up to a multiple of 4. s = max|v| / 127, and q = v / s rounded to nearest, ties to
// even: |v - q s| <= s / 2 except for rounding errors. A block whose s underflows to zero (max|v| < 2^-143) decodes to
// zeros. No s exceeds 0x1.0204p121, so that all decoded values are finite; decoders refuse larger ones, and q = -128.
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry int8();

}  // namespace gradcomp::value_coders

#pragma once
// delta: for each index, the difference to the index before (to -1 for the first), minus one, as a LEB128 varint of 1
// to 5 bytes in its shortest form (7 bits per byte, low bits first); then zero bytes up to a multiple of 4.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

coders::IndexCoderEntry delta();

}  // namespace gradcomp::index_coders

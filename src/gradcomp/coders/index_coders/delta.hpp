#pragma once
// delta: gap - 1 as a LEB128 varint of 1 to 5 bytes, shortest form; zero bytes to a multiple of 4. The first gap is
// counted from -1.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

coders::IndexCoderEntry delta();

}  // namespace gradcomp::index_coders

#pragma once
// u32: each index in 4 bytes.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

coders::IndexCoderEntry u32();

}  // namespace gradcomp::index_coders

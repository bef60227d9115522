#pragma once
// u32: 4 bytes each.
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

coders::IndexCoderEntry u32();

}  // namespace gradcomp::index_coders

#pragma once
// f32: each value in 4 bytes, exact.
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry f32();

}  // namespace gradcomp::value_coders

#pragma once
// f32: 4 bytes each, exact.
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::value_coders {

coders::ValueCoderEntry f32();

}  // namespace gradcomp::value_coders

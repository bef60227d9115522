#pragma once
// packed: each index in ceil(log2 elements) bits, all in one bit string (kernels/pack/bit_fields.hpp).
#include "gradcomp/coders/index_coding.hpp"

namespace gradcomp::index_coders {

/// Width of a field: ceil(log2 elements), 0 for a single element.
int packed_width(index_t elements);

coders::IndexCoderEntry packed();

}  // namespace gradcomp::index_coders

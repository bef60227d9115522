#pragma once
// The values of ValueCoding::int8 (value_coder.hpp).
#include "gradcomp/coders/value_coder.hpp"

namespace gradcomp::coders {

inline index_t block_count(index_t kept) { return (kept + value_block - 1) / value_block; }

/// Writes block_count() scales and `kept` codes, padded with zeros to a multiple of 4, and what they decode to;
/// `decoded` may be `values`.
void encode_int8(const Exec& exec, const float* values, index_t kept, float* scales, std::int8_t* codes,
                 float* decoded);

/// Reads `kept` values; returns how many are not finite or have a negative scale, plus the bytes of padding that are
/// not zero. Waits for exec.
index_t decode_int8(const Exec& exec, const float* scales, const std::int8_t* codes, index_t kept, float* values);

}  // namespace gradcomp::coders

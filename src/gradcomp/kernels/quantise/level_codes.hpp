#pragma once
// Signed levels of LinearCodec, one int8 per element: what an integer allreduce sums, and a source of denser codings.
//
// Bytes: 1 read of a (and 1 write with a residual), 1/4 write.
#include "gradcomp/kernels/quantise/code_plan.hpp"

namespace gradcomp::kernels {

/// codes[i] = level of a, -s .. s, in a plan of one element per code (only its pieces and buckets are used). a is cut
/// at own[bucket] and measured in shared[bucket]; what a - step(sent) leaves is left in the memory, with sent[bucket]
/// the value of level s.
/// Where `gate` is closed, nothing is done.
void encode_levels(const Exec& exec, const CodePlan& plan, const LinearCodec& codec, const Source& source,
                   const QuantiseStream& stream, const float* own, const float* shared, const float* sent,
                   const Gate& gate, const Span<std::int8_t>& codes);

/// out (+)= weight * levels * scale[bucket] / s where `gate` is open: added where `add`, else assigned.
void decode_levels(const Exec& exec, const CodePlan& plan, const LinearCodec& codec,
                   const Span<const std::int8_t>& levels, const float* scale, float weight, bool add, const Gate& gate,
                   const Span<float>& out);

}  // namespace gradcomp::kernels

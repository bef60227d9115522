#pragma once
// Signed levels of LinearCodec, one int8 per element: an integer allreduce sums them, or denser codings are made of
// them.
//
// Passes over n floats: 1 read of a (and 1 write with a residual), 1/4 write.
#include "gradcomp/kernels/quantise/code_plan.hpp"

namespace gradcomp::kernels {

/// codes[i] = the level of a, -s .. s, in a plan of one element per code (only its pieces and
/// groups are used). |a| is limited to own[group] and measured with shared[group]. sent[group] is the value of
/// level s with which receivers decode; the memory keeps the difference between a and the decoded value.
void encode_levels(const Exec& exec, const CodePlan& plan, const LinearCodec& codec, const Source& source,
                   const QuantiseStream& stream, const float* own, const float* shared, const float* sent,
                   const Span<std::int8_t>& codes);

/// out = weight * levels * scale[group] / s.
void decode_levels(const Exec& exec, const CodePlan& plan, const LinearCodec& codec,
                   const Span<const std::int8_t>& levels, const float* scale, float weight, const Span<float>& out);

}  // namespace gradcomp::kernels

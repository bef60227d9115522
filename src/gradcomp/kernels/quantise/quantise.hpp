#pragma once
// Rounds a gradient stochastically to few levels per element and packs them (QSGD: Alistarh et al., NeurIPS 2017,
// section 3.1). Per group of a segment: norm v, step v / s, code of round(|a| / step) in 0..s and of the sign.
// Unbiased. decode_codes() with a LinearCodec decodes.
//
// Bytes: 2 reads of a, the second from cache (and 1 write with a residual). Random numbers take about 2.5 integer
// operations per element: one Threefry draw serves 8 elements with 16 bits each.
#include "gradcomp/kernels/quantise/code_plan.hpp"

namespace gradcomp::kernels {

struct QuantiseSpec {
  int levels = 7;         ///< s, 1..127; codes are 0..2s: 0 = zero, 2q = +q, 2q - 1 = -q
  index_t group = 512;    ///< elements that share a norm; a power of two, 64 at least
  bool max_norm = false;  ///< v = max|a| instead of the l2 norm

  int bits() const { return signed_code_bits(levels); }
};

/// The first pass of a step: forms a, writes plan.bytes() bytes to `out` (aligned to 4) and leaves a - decoded in the
/// memory. Decoded values are `shrink` times unbiased ones. Sections: norms (f32), then the codes as in
/// code_pieces.hpp. Notes gradient elements that are not finite. `plan`: of groups of spec.group and codes of
/// spec.bits(), with one scale for each group.
void quantise(const Exec& exec, const CodePlan& plan, const QuantiseSpec& spec, const Source& source,
              const QuantiseStream& stream, float shrink, const Mark& mark, std::byte* out);

}  // namespace gradcomp::kernels

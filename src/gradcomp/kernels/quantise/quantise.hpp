#pragma once
// Stochastic rounding of a gradient to few levels per element, packed (QSGD: Alistarh et al., NeurIPS 2017,
// section 3.1), and back. Per bucket of a segment: norm v, step v / s, code of round(|a| / step) in 0..s and of the
// sign. Unbiased.
//
// Bytes: 2 reads of a, the second from cache (and 1 write with a residual). About 2.5 integer operations per element go
// to random numbers: one Threefry draw serves 8 elements with 16 bits each.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/quantise/code_pieces.hpp"
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::kernels {

struct QuantiseSpec {
  int levels = 7;         ///< s, 1..127; codes are 0..2s: 0 = zero, 2q = +q, 2q - 1 = -q
  index_t bucket = 512;   ///< elements that share a norm; a power of two, 64 at least
  bool max_norm = false;  ///< v = max|a| instead of the l2 norm

  /// ceil(log2(2s + 1))
  int bits() const;
};

/// Norms are never smaller than this (unless all of a bucket is zero), so that steps are normal numbers and their
/// inverses finite; any norm above max|a| keeps the rounding unbiased, it only adds variance.
inline constexpr float smallest_norm = 0x1p-90f;
/// And never larger: levels x step must not overflow. Costs a bias of 1e-6 above 3.4e38.
inline constexpr float largest_norm = 0x1.fffffp+127f;

/// Where the random numbers of a step come from; they differ between segments and ranks.
struct QuantiseStream {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  std::uint32_t rank = 0;
};

/// How a layout is coded; made once, in prepare().
class QuantisePlan {
 public:
  QuantisePlan(const Layout& layout, const QuantiseSpec& spec);
  /// Makes the plan of one segment that of its first `count` elements.
  void resize(const Exec& exec, index_t count) { m_cut.resize(exec, count); }

  index_t norm_count() const { return m_cut.buckets; }
  /// 4 per norm + ceil(n bits / 8), summed over segments.
  index_t bytes() const { return 4 * m_cut.buckets + 4 * m_cut.words + m_cut.tail_bytes; }
  index_t scratch_bytes() const;

  /// The first pass of a step: forms a, writes bytes() bytes to `out` (aligned to 4), leaves a - decoded in the memory.
  /// Decoded values are `shrink` times unbiased ones. Sections: norms (f32), then the codes as
  /// code_pieces.hpp has them. Counts non-finite gradient elements.
  void encode(const Exec& exec, const Source& source, const QuantiseStream& stream, float shrink, const Tally& found,
              std::byte* out) const;

  /// out += weight * decoded where `gate` is open, from bytes() bytes at `in` (aligned to 4). Counts in `found`, with
  /// `out` unspecified, codes above 2s and norms that no encoder writes.
  void decode_add(const Exec& exec, const std::byte* in, float weight, const Gate& gate, const Tally& found,
                  const Span<float>& out) const;

 private:
  QuantiseSpec m_spec;
  CodePieces m_cut;
  Vector<std::uint8_t> m_tail_codes;  ///< one byte per code, before they are packed
};

}  // namespace gradcomp::kernels

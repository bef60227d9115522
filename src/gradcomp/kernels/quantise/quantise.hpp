#pragma once
// Rounds a gradient stochastically to few levels per element and packs them (QSGD: Alistarh et al., NeurIPS 2017,
// section 3.1), and decodes them. Per group of a segment: norm v, step v / s, code of round(|a| / step) in 0..s and of
// the sign. Unbiased.
//
// Bytes: 2 reads of a, the second from cache (and 1 write with a residual). Random numbers take about 2.5 integer
// operations per element: one Threefry draw serves 8 elements with 16 bits each.
#include "gradcomp/core/payload.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"
#include "gradcomp/kernels/quantise/code_pieces.hpp"
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::kernels {

struct QuantiseSpec {
  int levels = 7;         ///< s, 1..127; codes are 0..2s: 0 = zero, 2q = +q, 2q - 1 = -q
  index_t group = 512;    ///< elements that share a norm; a power of two, 64 at least
  bool max_norm = false;  ///< v = max|a| instead of the l2 norm

  /// ceil(log2(2s + 1))
  int bits() const;
};

/// Smallest norm of a group that is not all zeros: steps are then normal numbers and have finite inverses. A norm
/// above max|a| keeps the rounding unbiased; it only adds variance.
inline constexpr float smallest_norm = 0x1p-90f;
/// Largest norm, so that levels x step does not overflow. It costs a bias of 1e-6 for norms above 3.4e38.
inline constexpr float largest_norm = 0x1.fffffp+127f;

/// Identifies the random numbers of a step, which differ between segments and ranks.
struct QuantiseStream {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  std::uint32_t rank = 0;
};

/// Made once, in prepare().
class QuantisePlan {
 public:
  QuantisePlan(const Layout& layout, const QuantiseSpec& spec);
  /// Turns the plan of one segment into that of its first `count` elements.
  void resize(const Exec& exec, index_t count) { m_cut.resize(exec, count); }

  index_t norm_count() const { return m_cut.groups; }
  /// 4 per norm + ceil(n bits / 8), summed over segments.
  index_t bytes() const { return 4 * m_cut.groups + 4 * m_cut.words + m_cut.tail_bytes; }
  index_t scratch_bytes() const;

  /// The first pass of a step: forms a, writes bytes() bytes to `out` (aligned to 4) and leaves a - decoded in the
  /// memory. Decoded values are `shrink` times unbiased ones. Sections: norms (f32), then the codes as in
  /// code_pieces.hpp. Notes gradient elements that are not finite.
  void encode(const Exec& exec, const Source& source, const QuantiseStream& stream, float shrink, const Mark& mark,
              std::byte* out) const;

  /// out += weight * decoded if the payload is admitted, from bytes() bytes at `in` (aligned to 4). Codes above 2s and
  /// norms that no encoder writes are broken.
  void decode_add(const Exec& exec, const std::byte* in, float weight, const Admission& admission,
                  const Span<float>& out) const;

 private:
  QuantiseSpec m_spec;
  CodePieces m_cut;
  Vector<std::uint8_t> m_tail_codes;  ///< one byte per code, before they are packed
};

}  // namespace gradcomp::kernels

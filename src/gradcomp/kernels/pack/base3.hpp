#pragma once
// Ternary codes, five to a byte: the byte is the sum of d_k 3^k over k = 0 .. 4, with d = 0 for zero, 1 for negative
// and 2 for positive. So 3^5 = 243 of the 256 values are used, and a code takes 1.6 bits; the least possible is log2(3)
// = 1.585. Every segment starts with a new byte.
#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/payload.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

class Base3 {
 public:
  explicit Base3(const Layout& layout);

  /// Bytes of all codes: the sum over segments of ceil(n / 5).
  index_t bytes() const { return m_bytes; }
  index_t scratch_bytes() const { return static_cast<index_t>(m_runs.size() * sizeof(Run)); }

  /// Packs the codes, each -1, 0 or 1, into `bytes`.
  void pack(const Exec& exec, const Span<const std::int8_t>& codes, std::uint8_t* bytes) const;

  /// If the payload is admitted, out += weight * scale * code, with one scale for each segment that is not empty. Bytes
  /// above 242 and scales that are no norms (codecs.hpp) are broken.
  void unpack_add(const Exec& exec, const std::uint8_t* bytes, const float* scales, float weight,
                  const Admission& admission, const Span<float>& out) const;

  /// Elements [first, first + count) of the layout; `count` is a multiple of 5 except at the end of a segment.
  struct Run {
    index_t first, count, byte, scale;
  };

 private:
  Vector<Run> m_runs;
  index_t m_bytes = 0;
};

}  // namespace gradcomp::kernels

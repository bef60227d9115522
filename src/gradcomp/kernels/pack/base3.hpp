#pragma once
// Ternary codes, five to a byte: sum of (0 zero, 1 negative, 2 positive) 3^k, k = 0 .. 4; 3^5 = 243 of 256 values are
// used, 1.6 bits per code where log2(3) = 1.585 would do. Every segment starts a byte of its own.
#include "gradcomp/core/layout.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

class Base3 {
 public:
  explicit Base3(const Layout& layout);

  /// Sum over segments of ceil(n / 5).
  index_t bytes() const { return m_bytes; }
  index_t scratch_bytes() const { return static_cast<index_t>(m_runs.size() * sizeof(Run)); }

  /// bytes = codes, each -1, 0 or 1.
  void pack(const Exec& exec, const Span<const std::int8_t>& codes, std::uint8_t* bytes) const;

  /// out += weight * scale * code where `gate` is open; `scales`: [segments that are not empty], any address. Counts in
  /// `found`, with `out` unspecified, bytes above 242 and scales that are no norms (codecs.hpp).
  void unpack_add(const Exec& exec, const std::uint8_t* bytes, const float* scales, float weight, const Gate& gate,
                  const Tally& found, const Span<float>& out) const;

  /// Elements [first, first + count) of the layout, a multiple of 5 unless they end a segment.
  struct Run {
    index_t first, count, byte, scale;
  };

 private:
  Vector<Run> m_runs;
  index_t m_bytes = 0;
};

}  // namespace gradcomp::kernels

#include "gradcomp/kernels/pack/majority.hpp"

#include <bit>

namespace gradcomp::kernels {

namespace {

/// Counts the ones of every bit position in `planes` bit planes: bit p of the count of position b is bit b of plane p.
template <int planes>
void majority_of(const Exec& exec, const std::uint32_t* words, index_t stride, int ranks, index_t count,
                 std::uint32_t undecided, std::uint32_t* out) {
  const auto half = static_cast<std::uint32_t>(ranks / 2);  // a count above it is more than half, also for odd ranks
  Kokkos::parallel_for(
      "gradcomp::kernels::majority_words", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t w) {
        std::uint32_t plane[planes] = {};
        for (int r = 0; r < ranks; ++r) {
          std::uint32_t carry = words[r * stride + w];
          GRADCOMP_UNROLL
          for (int p = 0; p < planes; ++p) {
            const std::uint32_t both = plane[p] & carry;
            plane[p] ^= carry;
            carry = both;
          }
        }
        std::uint32_t above = 0, equal = ~0u;  // counts above half, or equal to it, in the planes so far
        GRADCOMP_UNROLL
        for (int p = planes - 1; p >= 0; --p) {
          const std::uint32_t of_half = ((half >> p) & 1u) != 0 ? ~0u : 0u;
          above |= equal & plane[p] & ~of_half;
          equal &= ~(plane[p] ^ of_half);
        }
        out[w] = above | (equal & undecided);
      });
}

}  // namespace

void majority_words(const Exec& exec, const std::uint32_t* words, index_t stride, int ranks, index_t count,
                    std::uint32_t ties, std::uint32_t* out) {
  const std::uint32_t undecided = ranks % 2 == 0 ? ties : 0u;  // an odd number of ranks has no ties
  const int planes = std::bit_width(static_cast<unsigned>(ranks));
  if (planes <= 4) {  // a template of few sizes, so that the planes stay in registers
    majority_of<4>(exec, words, stride, ranks, count, undecided, out);
  } else if (planes <= 8) {
    majority_of<8>(exec, words, stride, ranks, count, undecided, out);
  } else {
    majority_of<31>(exec, words, stride, ranks, count, undecided, out);
  }
}

}  // namespace gradcomp::kernels

#include "gradcomp/kernels/pack/bit_vector.hpp"

#include "gradcomp/core/read_back.hpp"

namespace gradcomp::kernels {

index_t exclusive_scan(const Exec& exec, const Vector<std::uint64_t>& starts, index_t count) {
  std::uint64_t total = 0;
  Kokkos::parallel_scan(
      "gradcomp::kernels::exclusive_scan", IndexRange(exec, 0, count),
      KOKKOS_LAMBDA(index_t c, std::uint64_t& sum, bool is_final) {
        const std::uint64_t own = starts(c);
        if (is_final) starts(c) = sum;
        sum += own;
      },
      total);
  wait(exec, "gradcomp::kernels::exclusive_scan");
  return static_cast<index_t>(total);
}

index_t count_ones(const Exec& exec, const std::uint32_t* words, index_t count, const Vector<std::uint64_t>& starts) {
  const index_t chunks = word_chunks(count);
  Kokkos::parallel_for(
      "gradcomp::kernels::count_ones", IndexRange(exec, 0, chunks), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(count, (c + 1) * words_per_chunk);
        std::uint32_t ones = 0;
        for (index_t w = c * words_per_chunk; w < end; ++w)
          ones += static_cast<std::uint32_t>(Kokkos::popcount(words[w]));
        starts(c) = ones;
      });
  return exclusive_scan(exec, starts, chunks);
}

void find_ones(const Exec& exec, const std::uint32_t* words, index_t count, const Vector<std::uint64_t>& starts,
               index_t ones, OneIs meaning, std::uint32_t* out) {
  Kokkos::parallel_for(
      "gradcomp::kernels::find_ones", IndexRange(exec, 0, word_chunks(count)), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(count, (c + 1) * words_per_chunk);
        auto rank = static_cast<index_t>(starts(c));
        for (index_t w = c * words_per_chunk; w < end; ++w) {
          for (std::uint32_t rest = words[w]; rest != 0 && rank < ones; rest &= rest - 1) {
            const index_t position = 32 * w + Kokkos::countr_zero(rest);
            out[rank] = static_cast<std::uint32_t>(meaning == OneIs::position ? position : position - rank);
            ++rank;
          }
        }
      });
}

}  // namespace gradcomp::kernels

#include "gradcomp/coders/gaps.hpp"

#include "gradcomp/coders/index_coders/rice.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/pack/bit_vector.hpp"

namespace gradcomp::coders {

using kernels::BitFields;
using kernels::entries_per_chunk;
using kernels::entry_chunks;

const GapSums& gap_sums(const Exec& exec, const IndexList& list) {
  if (list.gaps) return *list.gaps;
  const int width = index_coders::rice_width(list.elements, list.kept);
  const Gaps gap{list.indices};
  index_t bytes = 0, quotients = 0;
  Kokkos::parallel_reduce(
      "gradcomp::coders::gap_sizes", IndexRange(exec, 0, list.kept),
      KOKKOS_LAMBDA(index_t i, index_t & bytes_sum, index_t & quotient_sum) {
        const std::uint32_t g = gap(i);
        bytes_sum += varint_bytes(g);
        quotient_sum += g >> width;
      },
      bytes, quotients);
  wait(exec, "gradcomp::coders::gap_sizes");
  list.gaps = GapSums{bytes, quotients};
  return *list.gaps;
}

void sum_gaps(const Exec& exec, const BitFields& gaps, const std::uint32_t* quotients, index_t kept, const Work& starts,
              std::uint32_t* indices) {
  const index_t chunks = entry_chunks(kept);
  Kokkos::parallel_for(
      "gradcomp::coders::sum_gaps_of_chunks", IndexRange(exec, 0, chunks), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(kept, (c + 1) * entries_per_chunk);
        std::uint64_t sum = 0;
        for (index_t i = c * entries_per_chunk; i < end; ++i) sum += static_cast<std::uint64_t>(gaps(i)) + 1;
        starts(c) = sum;
      });
  kernels::exclusive_scan(exec, starts, chunks);
  const int shift = quotients == nullptr ? 0 : gaps.width;
  Kokkos::parallel_for(
      "gradcomp::coders::sum_gaps", IndexRange(exec, 0, chunks), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(kept, (c + 1) * entries_per_chunk);
        std::uint64_t next = starts(c);
        for (index_t i = c * entries_per_chunk; i < end; ++i) {
          next += static_cast<std::uint64_t>(gaps(i)) + 1;
          const std::uint64_t base = quotients == nullptr ? 0 : static_cast<std::uint64_t>(quotients[i]) << shift;
          const std::uint64_t index = base + next - 1;
          indices[i] = index < 0xffffffffu ? static_cast<std::uint32_t>(index) : 0xffffffffu;
        }
      });
}

}  // namespace gradcomp::coders

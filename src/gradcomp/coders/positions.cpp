#include "gradcomp/coders/positions.hpp"

#include "gradcomp/kernels/pack/bit_vector.hpp"

namespace gradcomp::coders {

void write_ones(const Exec& exec, const IndexList& list, int shift, index_t rank, index_t count, std::uint32_t* words) {
  const std::uint32_t* const indices = list.indices;
  const index_t kept = list.kept;
  Kokkos::deep_copy(exec, Span<std::uint32_t>(words, static_cast<std::size_t>(count)), 0u);
  Kokkos::parallel_for(
      "gradcomp::coders::write_ones", IndexRange(exec, 0, kernels::entry_chunks(kept)), KOKKOS_LAMBDA(index_t c) {
        const index_t end = Kokkos::min(kept, (c + 1) * kernels::entries_per_chunk);
        kernels::BitWriter writer(words);
        for (index_t i = c * kernels::entries_per_chunk; i < end; ++i)
          writer.set(static_cast<std::uint64_t>((indices[i] >> shift) + i * rank));
        writer.finish();
      });
}

}  // namespace gradcomp::coders

#include "gradcomp/kernels/lanes/check_finite.hpp"

#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

struct NoteSum {
  Mark lost;
  FaultCounts faults;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, const Lanes<std::int32_t>& bad) const {
    note_bad(warp, bad, lost);
    note_diverged(warp, bad, faults);
  }
};

struct NoteBroken {
  FaultCounts faults;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, const Lanes<std::int32_t>& bad) const {
    note_broken(warp, bad, faults);
  }
};

/// note(warp, bad) for every tile; bad[l] is the number of values that are not finite.
template <class Note>
void count_bad(const char* label, const Exec& exec, const Span<const float>& values, Note note) {
  const auto count = static_cast<index_t>(values.size());
  for_warps(
      label, exec, (count + tile_size - 1) / tile_size, KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const index_t first = t * tile_size, left = count - first;
        Lanes<std::int32_t> bad;
        warp.each([&](int l) { bad[l] = 0; });
        each_element(warp, left < tile_size ? left : tile_size,
                     [&](int l, index_t e) { bad[l] += Source::is_finite(values(first + e)) ? 0 : 1; });
        note(warp, bad);
      });
}

void check_sum(const Exec& exec, const Span<const float>& sum, const Mark& lost, const FaultCounts& faults) {
  count_bad("gradcomp::kernels::check_sum", exec, sum, NoteSum{lost, faults});
}

void check_values(const Exec& exec, const Span<const float>& values, const FaultCounts& faults) {
  count_bad("gradcomp::kernels::check_values", exec, values, NoteBroken{faults});
}

}  // namespace gradcomp::kernels

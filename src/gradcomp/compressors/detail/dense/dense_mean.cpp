#include "gradcomp/compressors/detail/dense/dense_mean.hpp"

#include "gradcomp/kernels/lanes/note.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::compressors {

void send_accumulated(const Exec& exec, const Source& source, float* copy) {
  Kokkos::parallel_for(
      "gradcomp::compressors::send_accumulated", IndexRange(exec, 0, source.count), KOKKOS_LAMBDA(const index_t i) {
        bool good = true;
        const float a = source.accumulate(i, good);
        copy[i] = good ? a : Kokkos::Experimental::quiet_NaN_v<float>;
        if (good) source.sent(i, a, a);
      });
}

void divide_sum(const Exec& exec, const float* sum, float ranks, const FaultCounts& faults, const Span<float>& out) {
  const auto n = static_cast<index_t>(out.size());
  kernels::for_warps(
      "gradcomp::compressors::divide_sum", exec, (n + kernels::tile_size - 1) / kernels::tile_size,
      KOKKOS_LAMBDA(const kernels::Warp& warp, index_t t) {
        const index_t first = t * kernels::tile_size, left = n - first;
        const float* const in = sum + first;
        float* const target = out.data() + first;
        kernels::Lanes<std::int32_t> wrong;
        warp.each([&](int l) { wrong[l] = 0; });
        kernels::for_parts(target, left < kernels::tile_size ? left : kernels::tile_size,
                           [&](index_t begin, index_t size) {
                             kernels::each_element(
                                 warp, size, [&](index_t e) { return in[begin + e]; },
                                 [&](int l, index_t e, float value) {
                                   target[begin + e] = value / ranks;
                                   wrong[l] += Source::is_finite(value) ? 0 : 1;
                                 });
                           });
        kernels::note_diverged(warp, wrong, faults);
      });
}

}  // namespace gradcomp::compressors

#include "gradcomp/nn/gemm/gemm_tile_host.hpp"
#include "gradcomp/nn/recurrent/lstm_cell.hpp"
#include "gradcomp/nn/recurrent/lstm_steps.hpp"

namespace gradcomp::nn::host {
namespace {

/// to = a panels, or to += a panels if `add`, for `rows` rows, in tiles of nearly equal height. Passes over the inner
/// index are those of gemm().
template <class T>
void multiply(index_t rows, const T* a, index_t inner, const T* panels, T* to, index_t columns, bool add) {
  constexpr index_t width = panel_columns<T>;
  const index_t tiles = (rows + tile_rows - 1) / tile_rows;
  for (index_t k = 0; k < inner; k += inner_limit<T>) {
    const index_t length = std::min(inner_limit<T>, inner - k);
    for (index_t column = 0; column < columns; column += width) {
      const T* panel = panels + column * inner + k * width;
      const int wide = static_cast<int>(std::min(width, columns - column));
      for (index_t tile = 0; tile < tiles; ++tile) {
        const index_t row = tile * rows / tiles, end = (tile + 1) * rows / tiles;
        multiply_rows<T>(static_cast<int>(end - row), {a + row * inner + k, inner, 1}, panel, length,
                         {to + row * columns + column, columns, wide, add || k > 0, nullptr});
      }
    }
  }
}

/// All units of one sequence in one step. The arrays do not overlap.
template <class T>
void forward_units(index_t units, T* __restrict sums, const T* __restrict before, T* __restrict cell,
                   T* __restrict tanh_cell, T* __restrict hidden) {
#pragma GCC ivdep
  for (index_t u = 0; u < units; ++u) {
    LstmGates<T> gates{sums[u], sums[units + u], sums[2 * units + u], sums[3 * units + u]};
    const LstmUnit<T> unit = nn::lstm_forward(gates, before[u]);
    sums[u] = gates.i;
    sums[units + u] = gates.f;
    sums[2 * units + u] = gates.g;
    sums[3 * units + u] = gates.o;
    cell[u] = unit.c;
    tanh_cell[u] = unit.tanh_c;
    hidden[u] = unit.h;
  }
}

template <class T>
void backward_units(index_t units, const T* __restrict gates, const T* __restrict before, const T* __restrict tanh_cell,
                    const T* __restrict dy, const T* __restrict dh, T* __restrict dc, T* __restrict to) {
#pragma GCC ivdep
  for (index_t u = 0; u < units; ++u) {
    const LstmGates<T> d =
        nn::lstm_backward<T>({gates[u], gates[units + u], gates[2 * units + u], gates[3 * units + u]}, before[u],
                             tanh_cell[u], dh[u] + dy[u], dc[u]);
    to[u] = d.i;
    to[units + u] = d.f;
    to[2 * units + u] = d.g;
    to[3 * units + u] = d.o;
  }
}

/// Calls f(first, end) on each thread for its share of the sequences.
template <class F>
void share_sequences(const char* label, const Exec& exec, index_t sequences, const F& f) {
  const index_t shares = std::min<index_t>(exec.concurrency(), sequences);
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>>(exec, 0, shares, Kokkos::ChunkSize(1)),
      [=](const index_t share) { f(share * sequences / shares, (share + 1) * sequences / shares); });
}

}  // namespace

template <class T>
index_t lstm_packed_size(index_t units) {
  return std::max(packed_size<T>(units, 4 * units), packed_size<T>(4 * units, units));
}

template <class T>
void lstm_forward(const Exec& exec, const LstmSteps<T>& pass, T* packed) {
  pack_panels<T>(exec, pass.weight, packed);
  const index_t sequences = pass.shape.sequences, steps = pass.shape.steps, units = pass.units;
  share_sequences("gradcomp::nn::lstm_forward", exec, sequences, [=](const index_t first, const index_t end) {
    for (index_t step = 0; step < steps; ++step) {
      const index_t at = (step * sequences + first) * units, after = at + sequences * units;
      multiply<T>(end - first, pass.hidden + at, units, packed, pass.gates + 4 * at, 4 * units, true);
      for (index_t i = 0; i < (end - first) * units; i += units) {
        forward_units<T>(units, pass.gates + 4 * (at + i), pass.cell + at + i, pass.cell + after + i,
                         pass.tanh_cell + at + i, pass.hidden + after + i);
      }
    }
  });
}

template <class T>
void lstm_backward(const Exec& exec, const LstmSteps<T>& pass, const LstmGradients<T>& gradients, T* packed) {
  pack_panels<T>(exec, pass.weight.transposed(), packed);
  const index_t sequences = pass.shape.sequences, steps = pass.shape.steps, units = pass.units;
  share_sequences("gradcomp::nn::lstm_backward", exec, sequences, [=](const index_t first, const index_t end) {
    T* const dh = gradients.dh + first * units;
    T* const dc = gradients.dc + first * units;
    for (index_t step = steps; step-- > 0;) {
      const index_t at = (step * sequences + first) * units;
      for (index_t i = 0; i < (end - first) * units; i += units) {
        backward_units<T>(units, pass.gates + 4 * (at + i), pass.cell + at + i, pass.tanh_cell + at + i,
                          gradients.dy.data + at + i, dh + i, dc + i, gradients.gates + 4 * (at + i));
      }
      if (step > 0) multiply<T>(end - first, gradients.gates + 4 * at, 4 * units, packed, dh, units, false);
    }
  });
}

#define GRADCOMP_INSTANTIATE(T)                                        \
  template index_t lstm_packed_size<T>(index_t);                       \
  template void lstm_forward<T>(const Exec&, const LstmSteps<T>&, T*); \
  template void lstm_backward<T>(const Exec&, const LstmSteps<T>&, const LstmGradients<T>&, T*);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::host

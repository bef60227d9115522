#include "gradcomp/nn/recurrent/lstm_cell.hpp"
#include "gradcomp/nn/recurrent/lstm_steps.hpp"

namespace gradcomp::nn::portable {
namespace {

template <class T>
void forward_units(const Exec& exec, const LstmSteps<T>& pass, index_t step) {
  const index_t units = pass.units, count = pass.shape.sequences * units, at = step * count;
  Kokkos::parallel_for(
      "gradcomp::nn::lstm_forward", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        T* sums = pass.gates + 4 * (at + i / units * units) + i % units;
        LstmGates<T> gates{sums[0], sums[units], sums[2 * units], sums[3 * units]};
        const LstmUnit<T> unit = nn::lstm_forward(gates, pass.cell[at + i]);
        sums[0] = gates.i;
        sums[units] = gates.f;
        sums[2 * units] = gates.g;
        sums[3 * units] = gates.o;
        pass.cell[at + count + i] = unit.c;
        pass.hidden[at + count + i] = unit.h;
        pass.tanh_cell[at + i] = unit.tanh_c;
      });
}

template <class T>
void backward_units(const Exec& exec, const LstmSteps<T>& pass, const LstmGradients<T>& gradients, index_t step) {
  const index_t units = pass.units, count = pass.shape.sequences * units, at = step * count;
  Kokkos::parallel_for(
      "gradcomp::nn::lstm_backward", IndexRange(exec, 0, count), KOKKOS_LAMBDA(const index_t i) {
        const index_t first = 4 * (at + i / units * units) + i % units;
        const T* g = pass.gates + first;
        const T dh = gradients.dh[i] + gradients.dy.data[at + i];
        const LstmGates<T> d = nn::lstm_backward<T>({g[0], g[units], g[2 * units], g[3 * units]}, pass.cell[at + i],
                                                    pass.tanh_cell[at + i], dh, gradients.dc[i]);
        T* to = gradients.gates + first;
        to[0] = d.i;
        to[units] = d.f;
        to[2 * units] = d.g;
        to[3 * units] = d.o;
      });
}

}  // namespace

template <class T>
void lstm_forward(const Exec& exec, const LstmSteps<T>& pass, const GemmWorkspace<T>& workspace, Path path) {
  const index_t sequences = pass.shape.sequences, units = pass.units;
  for (index_t step = 0; step < pass.shape.steps; ++step) {
    const auto hidden = Matrix<const T>::dense(pass.hidden + step * sequences * units, sequences, units);
    const auto sums = Matrix<T>::dense(pass.gates + 4 * step * sequences * units, sequences, 4 * units);
    gemm<T>(exec, hidden, pass.weight, sums, workspace, path, {true, nullptr});
    forward_units(exec, pass, step);
  }
}

template <class T>
void lstm_backward(const Exec& exec, const LstmSteps<T>& pass, const LstmGradients<T>& gradients,
                   const GemmWorkspace<T>& workspace, Path path) {
  const index_t sequences = pass.shape.sequences, units = pass.units;
  for (index_t step = pass.shape.steps; step-- > 0;) {
    backward_units(exec, pass, gradients, step);
    const auto sums = Matrix<const T>::dense(gradients.gates + 4 * step * sequences * units, sequences, 4 * units);
    const auto dh = Matrix<T>::dense(gradients.dh, sequences, units);
    if (step > 0) gemm<T>(exec, sums, pass.weight.transposed(), dh, workspace, path);
  }
}

#define GRADCOMP_INSTANTIATE(T)                                                                                      \
  template void lstm_forward<T>(const Exec&, const LstmSteps<T>&, const GemmWorkspace<T>&, Path);                    \
  template void lstm_backward<T>(const Exec&, const LstmSteps<T>&, const LstmGradients<T>&, const GemmWorkspace<T>&, \
                                 Path);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn::portable

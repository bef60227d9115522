#include "gradcomp/nn/optimisers/accumulate.hpp"

namespace gradcomp::nn {

void accumulate(const Exec& exec, const Span<float>& sum, const Span<float>& gradient, index_t begin, index_t end,
                index_t batches, bool last) {
  const float part = 1.0F / static_cast<float>(batches);
  Kokkos::parallel_for(
      "gradcomp::nn::accumulate", IndexRange(exec, begin, end), KOKKOS_LAMBDA(const index_t i) {
        const float total = sum(i) + gradient(i);
        gradient(i) = last ? part * total : gradient(i);
        sum(i) = last ? 0.0F : total;
      });
}

}  // namespace gradcomp::nn

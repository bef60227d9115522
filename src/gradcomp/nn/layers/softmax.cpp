#include "gradcomp/nn/layers/softmax.hpp"

namespace gradcomp::nn {

template <class T>
void softmax_cross_entropy(const Exec& exec, int classes, const Span<const T>& logits,
                           const Span<const std::int32_t>& labels, const Span<const float>& weights,
                           const Span<double>& losses, const Span<Hit>& hits, const Span<T>& gradient) {
  const index_t batch = static_cast<index_t>(labels.extent(0));
  const bool with_gradient = gradient.extent(0) > 0, weighted = weights.extent(0) > 0;
  Kokkos::parallel_for(
      "gradcomp::nn::softmax_cross_entropy", IndexRange(exec, 0, batch), KOKKOS_LAMBDA(const index_t image) {
        const T* x = logits.data() + image * classes;
        const int label = labels(image);
        const bool valid = label >= 0 && label < classes;
        int best = 0;
        for (int j = 1; j < classes; ++j) best = x[j] > x[best] ? j : best;
        double sum = 0;
        for (int j = 0; j < classes; ++j) sum += Kokkos::exp(double(x[j]) - x[best]);
        losses(image) = valid ? Kokkos::log(sum) + x[best] - x[label] : 0.0;
        hits(image) = !valid ? Hit::bad_label : best == label ? Hit::right : Hit::wrong;
        const double weight = weighted ? double(weights(image)) : 1.0;
        for (int j = 0; with_gradient && j < classes; ++j) {
          const double probability = Kokkos::exp(double(x[j]) - x[best]) / sum;
          const double target = j == label ? 1.0 : 0.0;
          gradient(image * classes + j) = valid ? static_cast<T>(weight * (probability - target) / batch) : T(0);
        }
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                                   \
  template void softmax_cross_entropy<T>(const Exec&, int, const Span<const T>&, const Span<const std::int32_t>&, \
                                         const Span<const float>&, const Span<double>&, const Span<Hit>&,         \
                                         const Span<T>&);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn

#include "gradcomp/nn/networks/label_losses.hpp"

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp::nn {
namespace {

/// to[sample] = mean of the sample's `each` losses, summed in order.
void mean_of_each(const Exec& exec, index_t each, const Span<const double>& losses, const Span<float>& to) {
  Kokkos::parallel_for(
      "gradcomp::nn::sample_losses", IndexRange(exec, 0, static_cast<index_t>(to.extent(0))),
      KOKKOS_LAMBDA(const index_t sample) {
        double sum = 0;
        for (index_t i = 0; i < each; ++i) sum += losses(sample * each + i);
        to(sample) = static_cast<float>(sum / static_cast<double>(each));
      });
}

}  // namespace

template <class T>
void require_weights(const std::string& model, const Batch<T>& batch, index_t samples) {
  const auto weights = static_cast<index_t>(batch.weights.extent(0));
  require(weights == 0 || weights == samples,
          "{}: {} weights for a batch of {} samples where each has one, or none has", model, weights, samples);
}

LabelLosses::LabelLosses(index_t max_labels)
    : m_losses("gradcomp::nn::losses", max_labels),
      m_hits("gradcomp::nn::hits", max_labels),
      m_weights("gradcomp::nn::weights", max_labels),
      m_host_losses(Kokkos::create_mirror_view(m_losses)),
      m_host_hits(Kokkos::create_mirror_view(m_hits)),
      m_host_weights(Kokkos::create_mirror_view(m_weights)) {}

void LabelLosses::begin(const Exec& exec, index_t samples, index_t labels_of_each, const Span<const float>& weights) {
  m_samples = samples;
  m_labels_of_each = labels_of_each;
  m_weighted = weights.extent(0) > 0;
  if (m_weighted) Kokkos::deep_copy(exec, subspan<float>(m_weights, 0, samples), weights);
}

Span<const float> LabelLosses::weights() const {
  return subspan<const float>(m_weights, 0, m_weighted ? m_samples : 0);
}

Loss LabelLosses::loss(const Exec& exec, const std::function<std::string(index_t)>& complaint) {
  Kokkos::deep_copy(exec, m_host_losses, m_losses);
  Kokkos::deep_copy(exec, m_host_hits, m_hits);
  if (m_weighted) Kokkos::deep_copy(exec, m_host_weights, m_weights);
  wait(exec, "gradcomp::nn::loss");
  Loss loss{0, 0, m_samples * m_labels_of_each};
  for (index_t label = 0; label < loss.count; ++label) {
    if (m_host_hits(label) == Hit::bad_label) throw Error(complaint(label));
    const double weight = m_weighted ? double(m_host_weights(label / m_labels_of_each)) : 1.0;
    loss.sum += weight * m_host_losses(label);
    loss.correct += m_host_hits(label) == Hit::right ? 1 : 0;
  }
  return loss;
}

void LabelLosses::sample_losses(const Exec& exec, const std::string& model, const Span<float>& losses) const {
  require(static_cast<index_t>(losses.extent(0)) == m_samples,
          "{}: room for {} sample losses where the last batch had {} samples", model, losses.extent(0), m_samples);
  mean_of_each(exec, m_labels_of_each, m_losses, losses);
}

template void require_weights(const std::string&, const Batch<float>&, index_t);
template void require_weights(const std::string&, const Batch<double>&, index_t);

}  // namespace gradcomp::nn

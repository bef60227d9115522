#include "gradcomp/compressors/detail/sparse/sampled_classes.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/compressors/detail/sparse/sign_classes.hpp"
#include "gradcomp/core/read_back.hpp"

namespace gradcomp::compressors {
namespace {

Layout draws_of(const Layout& layout) {
  Layout draws;
  for (const auto& segment : layout.segments) draws.add(segment.name, {(segment.count + 99) / 100});
  return draws;
}

index_t rank_of(double density, index_t members) {
  return static_cast<index_t>(std::ceil(0.01 * density * static_cast<double>(members)));
}

/// Largest number of entries that thresholds() reads.
index_t max_chosen(const Layout& layout, double density) {
  index_t sum = 0;
  for (const auto& segment : layout.segments) sum += 2 * rank_of(density, segment.count);
  return sum;
}

/// samples[j] and samples[draws + j] = the magnitude at draw j as a member of the positive and of the negative class.
void draw(const Exec& exec, const Vector<kernels::Subset>& subsets, index_t elements, index_t draws,
          const Span<const float>& magnitudes, const Vector<float>& samples) {
  const auto segments = static_cast<index_t>(subsets.size());
  Kokkos::parallel_for(
      "gradcomp::compressors::sample_classes", IndexRange(exec, 0, draws), KOKKOS_LAMBDA(index_t j) {
        index_t low = 0, high = segments - 1;  // the last segment whose draws begin at or before j
        while (low < high) {
          const index_t middle = (low + high + 1) / 2;
          if (subsets(middle).entry <= j) {
            low = middle;
          } else {
            high = middle - 1;
          }
        }
        const kernels::Subset& subset = subsets(low);
        const Array4 bits = threefry4x32_12(subset.key, stream_counter(j - subset.entry, random_stream::sampling, 0));
        const index_t i = subset.first + kernels::random_below(bits.x0, bits.x1, subset.elements);
        samples(j) = magnitudes(i);
        samples(draws + j) = magnitudes(elements + i);
      });
}

}  // namespace

SampledClasses::SampledClasses(const Layout& layout, double density)
    : m_layout(layout),
      m_draws(draws_of(layout)),
      m_samples(class_layout(m_draws)),
      m_tiles(m_samples),
      m_first(m_tiles, kernels::Statistics::largest),
      m_selector(m_tiles, density),
      m_selections(m_samples.segments.size()),
      m_host_subsets(layout.segments.size()),
      m_subsets("gradcomp::compressors::class_draws", layout.segments.size()),
      m_values("gradcomp::compressors::class_samples", static_cast<std::size_t>(m_samples.count())),
      m_chosen("gradcomp::compressors::class_chosen", static_cast<std::size_t>(max_chosen(layout, density))),
      m_indices("gradcomp::compressors::class_places", m_chosen.size()),
      m_host_chosen(m_chosen.size()),
      m_thresholds(m_samples.segments.size()) {}

const std::vector<float>& SampledClasses::thresholds(const Exec& exec, const Span<const float>& magnitudes,
                                                     const std::vector<kernels::Moments>& moments, double density,
                                                     const Context& context) {
  for (std::size_t s = 0; s < m_host_subsets.size(); ++s) {
    const auto& drawn = m_draws.segments[s];
    m_host_subsets[s] = kernels::draw_subset(m_layout.segments[s], drawn.count, drawn.offset, context.seed,
                                             context.step, static_cast<std::uint32_t>(context.rank));
  }
  Kokkos::deep_copy(exec, m_subsets, HostSpan<kernels::Subset>(m_host_subsets.data(), m_host_subsets.size()));
  draw(exec, m_subsets, m_layout.count(), m_draws.count(), magnitudes, m_values);
  Source source;  // its elements are the samples
  source.count = m_samples.count();
  source.gradient = m_values.data();
  m_first.run(exec, m_tiles, source);
  for (std::size_t c = 0; c < m_selections.size(); ++c) {
    const index_t rank = std::min(rank_of(density, moments[c].nonzeros), m_first.moments()[c].nonzeros);
    m_selections[c] = {rank, true, 0, rank};
  }
  m_selector.choose(exec, m_tiles, source, m_first, m_selections);
  m_selector.emit(exec, m_tiles, source, m_indices.data(), m_chosen.data());
  read_back(exec, Span<const float>(m_chosen), m_host_chosen.data(),
            "gradcomp::compressors::SampledClasses::thresholds");
  auto from = m_host_chosen.cbegin();
  for (std::size_t c = 0; c < m_selections.size(); ++c) {
    const auto to = from + m_selections[c].k;
    m_thresholds[c] = from == to ? Kokkos::bit_cast<float>(moments[c].max_bits) : *std::min_element(from, to);
    from = to;
  }
  return m_thresholds;
}

index_t SampledClasses::bytes() const {
  return m_tiles.bytes() + m_first.bytes() + m_selector.bytes() +
         static_cast<index_t>(4 * (m_values.size() + m_chosen.size() + m_indices.size()) +
                              m_subsets.size() * sizeof(kernels::Subset));
}

}  // namespace gradcomp::compressors

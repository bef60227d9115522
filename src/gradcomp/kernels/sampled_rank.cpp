#include "gradcomp/kernels/sampled_rank.hpp"

#include <limits>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/read_back.hpp"
#include "gradcomp/kernels/random_subset.hpp"
#include "gradcomp/kernels/source_rows.hpp"

namespace gradcomp::kernels {
namespace {

Layout layout_of(const Layout& layout, const std::vector<index_t>& capacity) {
  Layout samples;
  for (std::size_t s = 0; s < capacity.size(); ++s) samples.add(layout.segments[s].name, {capacity[s]});
  return samples;
}

/// Zeros behind a segment's samples: below every rank that is looked for.
void gather(const Exec& exec, const Tiles& tiles, const float* a, const Vector<Sample>& samples,
            const Vector<index_t>& places, const Vector<float>& values) {
  const auto tile = tiles.tile;
  for_warps(
      "gradcomp::kernels::gather_samples", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        const Sample sample = samples(here.segment);
        if (sample.count == 0) return;
        for (std::int32_t row = 0; row < here.count; row += warp_lanes) {
          const index_t at = here.first + row, first = at - places(here.segment);
          Lanes<float> x;
          warp.each(
              [&](int l) { x[l] = first + l < sample.count ? a[sample.start + (first + l) * sample.stride] : 0.0f; });
          store_row(warp, &values(at), here.count - row, x);
        }
      });
}

}  // namespace

index_t random_start(index_t range, std::uint64_t seed, index_t segment, std::int64_t step, int rank) {
  const Array4 key = stream_key(seed, segment, step, static_cast<std::uint32_t>(rank));
  const Array4 bits = threefry4x32_12(key, stream_counter(0, random_stream::threshold, 0));
  return random_below(bits.x0, bits.x1, range);
}

SampledRank::SampledRank(const Layout& layout, const std::vector<index_t>& capacity)
    : m_layout(layout),
      m_sample_layout(layout_of(layout, capacity)),
      m_tiles(m_sample_layout),
      m_radix(m_tiles),
      m_samples("gradcomp::kernels::samples", capacity.size()),
      m_places("gradcomp::kernels::sample_places", capacity.size()),
      m_goals("gradcomp::kernels::sample_goals", capacity.size()),
      m_values(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::sample_values"),
               static_cast<std::size_t>(m_sample_layout.count())),
      m_host_samples(capacity.size()),
      m_host_goals(capacity.size()),
      m_result(capacity.size()) {
  std::vector<index_t> places;
  for (const auto& segment : m_sample_layout.segments) places.push_back(segment.offset);
  Kokkos::deep_copy(m_places, HostSpan<index_t>(places.data(), places.size()));
}

const std::vector<std::int32_t>& SampledRank::run(const Exec& exec, const float* a,
                                                  const std::vector<Sample>& samples) {
  bool any = false;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    Sample sample = samples[s];
    const index_t n = m_layout.segments[s].count, capacity = m_sample_layout.segments[s].count;
    m_host_goals[s] = Goal{};
    m_result[s] = -1;
    if (sample.count > 0) {
      require(sample.count <= capacity && sample.start >= 0 && sample.stride > 0 && sample.rank > 0 &&
                  sample.rank <= sample.count && sample.start + (sample.count - 1) * sample.stride < n,
              "sample of segment {}: {} elements from {} on in steps of {}, rank {}; there are {}, room for {}", s,
              sample.count, sample.start, sample.stride, sample.rank, n, capacity);
      sample.start += m_layout.segments[s].offset;
      m_host_goals[s].high = std::numeric_limits<std::int32_t>::max();
      m_host_goals[s].rank = sample.rank;
      any = true;
    }
    m_host_samples[s] = sample;
  }
  if (!any) return m_result;
  Kokkos::deep_copy(exec, m_samples, HostSpan<Sample>(m_host_samples.data(), m_host_samples.size()));
  Kokkos::deep_copy(exec, m_goals, HostSpan<Goal>(m_host_goals.data(), m_host_goals.size()));
  gather(exec, m_tiles, a, m_samples, m_places, m_values);
  Runs runs;
  runs.tile = m_tiles.tile.data();
  runs.a = m_values.data();
  m_radix.narrow(exec, runs, m_goals, Radix::Target::exact, Radix::passes_to_end);
  read_back(exec, Span<const Goal>(m_goals), m_host_goals.data(), "gradcomp::kernels::SampledRank::run");
  for (std::size_t s = 0; s < samples.size(); ++s)
    if (m_host_goals[s].rank > 0) m_result[s] = m_host_goals[s].high;
  return m_result;
}

index_t SampledRank::bytes() const {
  return m_tiles.bytes() + m_radix.bytes() +
         static_cast<index_t>(m_samples.size() * (sizeof(Sample) + sizeof(index_t) + sizeof(Goal)) +
                              m_values.size() * sizeof(float));
}

}  // namespace gradcomp::kernels

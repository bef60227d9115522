#include "gradcomp/kernels/select/sampled_rank.hpp"

#include "gradcomp/core/copies.hpp"
#include "gradcomp/core/error.hpp"
#include "gradcomp/kernels/lanes/source_rows.hpp"
#include "gradcomp/kernels/random/random_subset.hpp"

namespace gradcomp::kernels {
namespace {

constexpr std::int32_t max_magnitude = 0x7fffffff;

Layout layout_of(const Layout& layout, const std::vector<index_t>& capacity) {
  Layout samples;
  for (std::size_t s = 0; s < capacity.size(); ++s) samples.add(layout.segments[s].name, {capacity[s]});
  return samples;
}

void set_searches(const Exec& exec, const Shared<Sample>& samples, const std::int32_t* open,
                  const Vector<SegmentSearch>& searches, bool host_looks) {
  for_few(
      "gradcomp::kernels::set_sample_searches", exec, static_cast<index_t>(searches.size()), host_looks,
      KOKKOS_LAMBDA(const index_t s) {
        const bool wanted = samples(s).count > 0 && (open == nullptr || open[s] != 0);
        SegmentSearch search;
        search.open = 0;
        search.high = wanted ? max_magnitude : -1;
        search.rank = wanted ? samples(s).rank : 0;
        searches(s) = search;
      });
}

/// Only if the host may look.
bool any_search(const Vector<SegmentSearch>& searches) {
  const auto seen = seen_by_host(searches);
  for (std::size_t s = 0; s < seen.size(); ++s)
    if (seen(s).rank > 0) return true;
  return false;
}

/// Fills the places behind a segment's samples with zeros, which rank below every value that is looked for.
void gather(const Exec& exec, const Tiles& tiles, const float* a, const Shared<Sample>& samples,
            const Vector<SegmentSearch>& searches, const Vector<index_t>& places, const Vector<float>& values) {
  const auto tile = tiles.tile;
  for_warps(
      "gradcomp::kernels::gather_samples", exec, tiles.count(), KOKKOS_LAMBDA(const Warp& warp, index_t t) {
        const Tile here = tile(t);
        if (searches(here.segment).rank == 0) return;
        const Sample sample = samples(here.segment);
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
      m_searches("gradcomp::kernels::sample_searches", capacity.size()),
      m_values(Kokkos::view_alloc(Kokkos::WithoutInitializing, "gradcomp::kernels::sample_values"),
               static_cast<std::size_t>(m_sample_layout.count())) {
  std::vector<index_t> places;
  for (const auto& segment : m_sample_layout.segments) places.push_back(segment.offset);
  m_places = upload("gradcomp::kernels::sample_places", places);
}

void SampledRank::run(const Exec& exec, const float* a, const std::vector<Sample>& samples, const std::int32_t* open,
                      bool host_looks) {
  for (std::size_t s = 0; s < samples.size(); ++s) {
    Sample sample = samples[s];
    const index_t n = m_layout.segments[s].count, capacity = m_sample_layout.segments[s].count;
    require(
        sample.count == 0 || (sample.count <= capacity && sample.start >= 0 && sample.stride > 0 && sample.rank > 0 &&
                              sample.rank <= sample.count && sample.start + (sample.count - 1) * sample.stride < n),
        "sample of segment {}: {} elements from {} on in steps of {}, rank {}; the segment has {}, with room for {}", s,
        sample.count, sample.start, sample.stride, sample.rank, n, capacity);
    sample.start += m_layout.segments[s].offset;
    m_samples(s) = sample;
  }
  set_searches(exec, m_samples, open, m_searches, host_looks);
  if (host_looks && !any_search(m_searches)) return;
  gather(exec, m_tiles, a, m_samples, m_searches, m_places, m_values);
  Runs runs;
  runs.tile = m_tiles.tile.data();
  runs.a = m_values.data();
  m_radix.narrow(exec, m_tiles, runs, m_searches, Radix::Target::exact, Radix::passes_to_end);
}

index_t SampledRank::bytes() const {
  return m_tiles.bytes() + m_radix.bytes() +
         static_cast<index_t>(m_samples.size() * (sizeof(Sample) + sizeof(index_t) + sizeof(SegmentSearch)) +
                              m_values.size() * sizeof(float));
}

}  // namespace gradcomp::kernels

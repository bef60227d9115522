#include "gradcomp/compressors/detail/low_rank/atomo_state.hpp"

#include <algorithm>

#include "gradcomp/compressors/detail/low_rank/spectrum.hpp"
#include "gradcomp/core/copies.hpp"

namespace gradcomp::compressors {
namespace {

bool is_decomposed(const Segment& segment, index_t rank) {
  const MatrixShape m = spectral_shape(segment);
  const index_t least = std::min(m.rows, m.columns), most = std::max(m.rows, m.columns);
  return least > 0 && least <= longest_short_side && most < (index_t{1} << 30) &&
         rank * (m.rows + m.columns + 1) < segment.count;
}

std::vector<kernels::StoredMatrix> matrices_of(const Layout& layout, index_t rank) {
  std::vector<kernels::StoredMatrix> matrices;
  for (const auto& segment : layout.segments) {
    if (!is_decomposed(segment, rank)) continue;
    const MatrixShape m = spectral_shape(segment);
    matrices.push_back({segment.offset, static_cast<std::int32_t>(m.rows), static_cast<std::int32_t>(m.columns)});
  }
  return matrices;
}

std::vector<kernels::CopiedRun> raw_runs(const Layout& layout, index_t rank) {
  std::vector<kernels::CopiedRun> runs;
  index_t position = 0;
  for (const auto& segment : layout.segments) {
    if (is_decomposed(segment, rank)) continue;
    for (index_t e = 0; e < segment.count; e += kernels::tile_size) {
      const index_t count = std::min<index_t>(kernels::tile_size, segment.count - e);
      runs.push_back({segment.offset + e, position, static_cast<std::int32_t>(count)});
      position += count;
    }
  }
  return runs;
}

}  // namespace

index_t max_atomo_floats(const Layout& layout, index_t rank) {
  index_t floats = 0;
  for (const auto& segment : layout.segments) {
    const MatrixShape m = spectral_shape(segment);
    floats += is_decomposed(segment, rank) ? 1 + std::min(m.rows, m.columns) * (1 + m.rows + m.columns) : segment.count;
  }
  return floats;
}

AtomoState::AtomoState(const Layout& bucket, index_t rank)
    : State(bucket),
      tiles(bucket),
      first(tiles, kernels::Statistics::largest),
      plan(matrices_of(bucket, rank)),
      runs(upload("gradcomp::compressors::atomo::runs", raw_runs(bucket, rank))),
      payload("gradcomp::compressors::atomo::payload",
              static_cast<std::size_t>(payload_header_bytes + 4 * max_atomo_floats(bucket, rank))),
      grams("gradcomp::compressors::atomo::grams", static_cast<std::size_t>(plan.gram_count())),
      vectors("gradcomp::compressors::atomo::vectors", grams.size()),
      values("gradcomp::compressors::atomo::values", static_cast<std::size_t>(plan.value_count())),
      terms("gradcomp::compressors::atomo::terms", values.size()),
      received("gradcomp::compressors::atomo::received", plan.matrices().size()),
      host_values(values.size()),
      host_terms(values.size()),
      host_received(received.size()),
      counts(received.size()) {
  for (const auto& segment : bucket.segments) {
    if (is_decomposed(segment, rank)) {
      ids.push_back(segment.id);
    } else {
      raw += segment.count;
    }
  }
}

index_t AtomoState::scratch_bytes() const {
  return tiles.bytes() + first.bytes() + plan.bytes() + static_cast<index_t>(payload.size()) +
         static_cast<index_t>(16 * grams.size() + 8 * values.size() + runs.size() * sizeof(kernels::CopiedRun) +
                              terms.size() * sizeof(kernels::RankOneTerm) +
                              received.size() * sizeof(kernels::RankOneTerms));
}

}  // namespace gradcomp::compressors

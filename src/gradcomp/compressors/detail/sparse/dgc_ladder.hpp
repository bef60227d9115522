#pragma once
// The kernels that dgc launches in a step: they repair the sampled thresholds of all segments at once, and keep the
// momentum of tensors that are sent whole.
#include "gradcomp/compressors/detail/sparse/sampled.hpp"
#include "gradcomp/core/copies.hpp"
#include "gradcomp/kernels/select/count_above.hpp"

namespace gradcomp::compressors {

constexpr double dgc_upper_bound = 1.3, dgc_lower_bound = 0.8;

KOKKOS_INLINE_FUNCTION index_t max_candidates(index_t k) {
  return static_cast<index_t>(dgc_upper_bound * static_cast<double>(k));
}
KOKKOS_INLINE_FUNCTION index_t min_candidates(index_t k) {
  return static_cast<index_t>(Kokkos::ceil(dgc_lower_bound * static_cast<double>(k)));
}

/// The repairs of one segment: the threshold T is lowered to .8 T, .64 T, ... until enough entries lie at or above it.
struct DgcLadder {
  float threshold = 0;
  index_t least = 0;  ///< number of candidates that is enough
  int repairs = 0;
  bool settled = true;

  static constexpr float repair_factor = 0.8f;
  static constexpr int max_repairs = 10;
  static constexpr int max_reads = (max_repairs + kernels::max_probes) / kernels::max_probes;

  KOKKOS_INLINE_FUNCTION bool done() const { return settled; }
  KOKKOS_INLINE_FUNCTION bool enough(index_t count) const { return count >= least; }

  /// The bound above which entries >= t lie.
  KOKKOS_INLINE_FUNCTION static std::int32_t below(float t) { return Kokkos::max(kernels::magnitude(t) - 1, 0); }
  KOKKOS_INLINE_FUNCTION std::int32_t bound() const { return below(threshold); }

  KOKKOS_INLINE_FUNCTION kernels::Probes probes() const {
    kernels::Probes probes = kernels::no_probes();
    float t = threshold;
    for (int p = 0; p < kernels::max_probes && repairs + p <= max_repairs && !settled; ++p, t *= repair_factor)
      probes[p] = below(t);
    return probes;
  }

  KOKKOS_INLINE_FUNCTION void advance(const kernels::Counts& counts) {
    for (int p = 0; p < kernels::max_probes && !settled; ++p) {
      settled = counts[p] >= least || repairs == max_repairs;
      if (settled) return;
      threshold *= repair_factor;
      ++repairs;
    }
  }
};

struct DgcState final : SampledState {
  DgcState(const Layout& bucket, double usual, index_t max_entries, const coders::SparseCoding& coding,
           const std::vector<index_t>& capacity, const std::vector<std::uint32_t>& sent_whole)
      : SampledState(bucket, usual, max_entries, coding, capacity),
        above(tiles),
        ladders("gradcomp::compressors::dgc_ladders", layout.segments.size()),
        whole(upload("gradcomp::compressors::dgc_whole", sent_whole)),
        momentum("gradcomp::compressors::dgc_momentum", sent_whole.size()) {}

  index_t scratch_bytes() const override {
    return SampledState::scratch_bytes() + above.bytes() +
           static_cast<index_t>(ladders.size() * sizeof(DgcLadder) + 8 * whole.size());
  }

  kernels::CountAbove above;
  Vector<DgcLadder> ladders;    ///< [segments]
  Vector<std::uint32_t> whole;  ///< elements of tensors that are sent whole
  Vector<float> momentum;       ///< of these elements
  bool keeps_momentum = false;  ///< in this step
};

/// Replaces the sampled thresholds by thresholds with enough entries above them, and makes the selections of the open
/// segments.
void search_candidates(const Exec& exec, const Source& source, const DgcState& state, bool paper, bool host_looks);

/// keep_momentum() copies the momentum u of tensors that are sent whole; restore_momentum() writes it back after
/// masking. The authors exchange such tensors without compression, with the momentum of ordinary training.
void keep_momentum(const Exec& exec, const Source& source, const DgcState& state);
void restore_momentum(const Exec& exec, const Source& source, const DgcState& state);

}  // namespace gradcomp::compressors

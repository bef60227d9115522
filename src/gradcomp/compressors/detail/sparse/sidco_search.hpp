#pragma once
// The kernels that sidco launches in a step: they make the stages of all segments side by side.
#include <algorithm>
#include <vector>

#include "gradcomp/compressors/detail/sparse/sidco_stages.hpp"
#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/shared.hpp"

namespace gradcomp::compressors {

/// What the search of a segment needs to know in a step.
struct SidcoAim {
  index_t k = 0;
  std::int32_t stages = 0;
};

struct SidcoState final : SparseState {
  SidcoState(const Layout& bucket, double usual, index_t max_entries, const coders::SparseCoding& coding, bool logs,
             int stages)
      : SparseState(bucket, usual, max_entries, coding,
                    logs ? kernels::Statistics::logs : kernels::Statistics::magnitudes),
        tails(tiles),
        history(layout.segments.size()),
        aims("gradcomp::compressors::sidco_aims", layout.segments.size()),
        searched_for("gradcomp::compressors::sidco_searched", layout.segments.size()),
        fits("gradcomp::compressors::sidco_fits", layout.segments.size()),
        host_fits(logs ? layout.segments.size() : 0),
        host_moments(host_fits.size()) {
    for (auto& h : history) h.stages = stages;
  }

  Memories memories() override {
    const auto valid = [this] {
      return std::all_of(history.begin(), history.end(), [](const SidcoHistory& h) { return h.is_valid(); });
    };
    return {{"sidco_history", history.data(), static_cast<index_t>(history.size() * sizeof(SidcoHistory)), true,
             Role::method, -1, valid}};
  }
  index_t scratch_bytes() const override {
    return SparseState::scratch_bytes() + tails.bytes() + static_cast<index_t>(fits.size() * sizeof(SidcoStages));
  }

  kernels::TailSums tails;
  std::vector<SidcoHistory> history;  ///< [segments], as the vectors below
  Shared<SidcoAim> aims;
  Shared<std::int32_t> searched_for;  ///< 1: a threshold was searched for the segment
  Vector<SidcoStages> fits;
  std::vector<SidcoStages> host_fits;  ///< for sid=gamma
  std::vector<kernels::Moments> host_moments;
};

/// Fits the thresholds of the open segments and makes their selections. Reads a = source.accumulated() at most `reads`
/// times.
void search_fits(const Exec& exec, const Source& source, SidcoState& state, const SidcoRule& rule, int reads,
                 bool host_looks);

}  // namespace gradcomp::compressors

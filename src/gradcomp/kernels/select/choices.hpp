#pragma once
// The choices in all segments: the kernels that run between the passes over the gradient.
#include "gradcomp/kernels/select/choice.hpp"

namespace gradcomp::kernels::detail {

/// What the host learns about a round.
struct Outcome {
  index_t kept = 0, non_finite = 0;
  std::uint32_t needed = 0;  ///< phases that segments needed
  std::int32_t again = 0;    ///< 1: some segment needs another round
};

/// The arrays of all choices; a small value type that kernels capture.
struct Choices {
  index_t segments;
  const Selection* selection;
  const Moments* moments;
  const index_t *elements, *sampled, *total;
  SegmentSearch* search;
  Progress* progress;
  std::int32_t *low, *margin;
  Chosen* chosen;
  Outcome* outcome;
  bool expecting;
  std::int32_t slots;  ///< of a tile

  KOKKOS_INLINE_FUNCTION Chooser at(index_t s) const {
    const index_t tiles = (elements[s] + tile_size - 1) / tile_size;
    return {selection[s],
            moments[s],
            elements[s],
            sampled[s],
            tiles * slots,
            tiles * Candidates::list_room(slots),
            expecting ? low[s] : no_bound};
  }
};

/// Sets the first search of every segment.
void start_choices(const Exec& exec, const Choices& all, bool host_looks);

/// Decides by the totals of a round, in which the phases `launched` took place: gives segments new searches, or their
/// places in the message.
void settle_choices(const Exec& exec, const Choices& all, std::uint32_t launched, bool host_looks);

/// Sets the bounds for the next step. A segment whose candidates would not fit in their slots gets no bound.
void remember_choices(const Exec& exec, const Choices& all, double spare, bool host_looks);

}  // namespace gradcomp::kernels::detail

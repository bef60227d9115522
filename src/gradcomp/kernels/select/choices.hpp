#pragma once
// The choices of all segments, side by side: the kernels between the passes over the gradient.
#include "gradcomp/kernels/select/choice.hpp"

namespace gradcomp::kernels::detail {

/// What the host learns of a round.
struct Outcome {
  index_t kept = 0, non_finite = 0;
  std::uint32_t needed = 0;  ///< phases that segments needed
  std::int32_t again = 0;    ///< 1: some segment wants another round
};

/// What the kernels of a choice see; a small value type that they capture.
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

  KOKKOS_INLINE_FUNCTION Chooser at(index_t s) const {
    return {selection[s], moments[s], elements[s], sampled[s], expecting ? low[s] : no_bound};
  }
};

/// Where the searches start.
void start_choices(const Exec& exec, const Choices& all, bool host_looks);

/// Looks at the totals of a round of which `launched` took place; gives the segments new searches, or their places in
/// the message.
void settle_choices(const Exec& exec, const Choices& all, std::uint32_t launched, bool host_looks);

/// Bounds of the next step. What would overflow the tiles' room (a share of them) is not worth collecting.
void remember_choices(const Exec& exec, const Choices& all, double spare, double room, bool host_looks);

}  // namespace gradcomp::kernels::detail

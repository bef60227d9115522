#pragma once
// The kernels that redsync launches in a step: they search the thresholds of all segments side by side.
#include <algorithm>

#include "gradcomp/compressors/detail/sparse/count_search.hpp"
#include "gradcomp/compressors/detail/sparse/redsync_search.hpp"
#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/shared.hpp"

namespace gradcomp::compressors {

/// What a segment of redsync remembers between steps.
struct RedsyncMemory {
  index_t target = 0;           ///< k for which the threshold was found; another density needs another threshold
  std::int32_t threshold = -1;  ///< a magnitude; -1: none
  std::int32_t steps = 0;       ///< number of steps that used the threshold
};

struct RedsyncState final : SparseState {
  RedsyncState(const Layout& bucket, double usual, index_t max_entries, const coders::SparseCoding& coding, bool paper)
      : SparseState(bucket, usual, max_entries, coding, kernels::Statistics::magnitudes, spare_of_searches),
        above(tiles),
        memory("gradcomp::compressors::redsync_memory", layout.segments.size()),
        counted("gradcomp::compressors::redsync_counted", paper ? 0 : layout.segments.size()),
        published("gradcomp::compressors::redsync_published", paper ? layout.segments.size() : 0) {}

  Memories memories() override {
    const auto valid = [this] {
      return std::all_of(memory.data(), memory.data() + memory.size(), [](const RedsyncMemory& m) {
        return is_count(m.target) && m.threshold >= -1 && m.steps >= 0;
      });
    };
    return {{"redsync_thresholds", memory.data(), static_cast<index_t>(memory.size() * sizeof(RedsyncMemory)), true,
             Role::method, -1, valid}};
  }
  index_t scratch_bytes() const override {
    return SparseState::scratch_bytes() + above.bytes() +
           static_cast<index_t>(counted.size() * sizeof(CountSearch) + published.size() * sizeof(RedsyncSearch));
  }

  kernels::CountAbove above;
  Shared<RedsyncMemory> memory;     ///< [segments]
  Vector<CountSearch> counted;      ///< [segments] of variant=fixed
  Vector<RedsyncSearch> published;  ///< [segments] of variant=paper
};

/// What variant=paper does with a segment.
struct RedsyncPolicy {
  using Kind = RedsyncSearch::Kind;

  bool by_size;
  Kind kind;  ///< the search, if by_size is false
  double eps;
  int interval;

  /// The search for a segment of n elements; none: the segment is not compressed.
  KOKKOS_INLINE_FUNCTION Kind of(index_t n) const {
    constexpr index_t plain_bytes = 128 * 1024, trimmed_bytes = 4 * 1024 * 1024;
    if (!by_size) return kind;
    return 4 * n < plain_bytes ? Kind::none : 4 * n <= trimmed_bytes ? Kind::trimmed : Kind::binary;
  }
};

/// variant=fixed: searches the thresholds of the open segments in a = source.accumulated() and makes their selections.
void search_counted(const Exec& exec, const Source& source, const RedsyncState& state, bool host_looks);

/// The same for variant=paper.
void search_published(const Exec& exec, const Source& source, const RedsyncState& state, const RedsyncPolicy& policy,
                      bool host_looks);

}  // namespace gradcomp::compressors

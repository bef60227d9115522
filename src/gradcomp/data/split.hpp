#pragma once
// The parts of a data set. Settings are chosen by the validation set. The test set is read once, at the end of a run.
#include <algorithm>
#include <cstdint>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// Generators use these numbers as keys of their draws (counter_rng.hpp), so they must not change.
enum class Split : std::uint8_t { train = 0, test = 1, validation = 2 };

/// Whether sample `i` of the `count` training samples in a file goes to the validation set. Every tenth does, or the
/// last one of fewer than ten. This spreads the validation set over the classes, whether samples are sorted by class or
/// not.
constexpr bool is_for_validation(index_t i, index_t count) {
  const index_t step = std::min<index_t>(10, count);
  return i % step == step - 1;
}

}  // namespace gradcomp::data

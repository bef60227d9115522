#pragma once
// The parts of a data set. Settings are chosen on the validation set; the test set is read once, at the end of a run.
#include <algorithm>
#include <cstdint>

#include "gradcomp/core/types.hpp"

namespace gradcomp::data {

/// The numbers are part of what generators draw from (counter_rng.hpp).
enum class Split : std::uint8_t { train = 0, test = 1, validation = 2 };

/// Files have a training and a test set. Whether sample `i` of their `count` training samples goes to the validation
/// set: every tenth does (of fewer than ten the last one), which spreads them over the classes whatever the order.
constexpr bool is_for_validation(index_t i, index_t count) {
  const index_t step = std::min<index_t>(10, count);
  return i % step == step - 1;
}

}  // namespace gradcomp::data

#pragma once
// Which bucket is more urgent than which, by the rule that a user names.
#include <cstddef>
#include <string>
#include <vector>

#include "gradcomp/exchange/buckets.hpp"

namespace gradcomp {

/// [buckets]: how many go before each. `rule`: forward (what layers use first), tic, tac, or backward (as computed).
/// `layers`: for each layer, in the order of first use, the buckets that it needs; empty where no forward pass was
/// seen, which counts as a pass over the buckets in their order.
std::vector<std::size_t> places_of(const std::string& rule, const std::vector<BucketRange>& buckets,
                                   const std::vector<std::vector<std::size_t>>& layers);

}  // namespace gradcomp

#pragma once
// The order of buckets by urgency, by the rule that a user chooses.
#include <cstddef>
#include <string>
#include <vector>

#include "gradcomp/exchange/buckets.hpp"

namespace gradcomp {

/// [buckets]: how many buckets precede each. `rule`: forward (order of first use), tic, tac, or backward (order of
/// completion). `layers`: for each layer, in the order of first use, the buckets that it needs. If no forward pass was
/// seen, `layers` is empty, and a pass over the buckets in the order of the layout is assumed.
std::vector<std::size_t> places_of(const std::string& rule, const std::vector<BucketRange>& buckets,
                                   const std::vector<std::vector<std::size_t>>& layers);

}  // namespace gradcomp

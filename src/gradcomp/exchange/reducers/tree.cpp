// tree: adds up a binomial tree to rank 0, which then holds the reduction, and sends it down the same tree. There are 2
// ceil(log2 P) hops, in each of which a rank sends or receives one whole message, or none.
#include "gradcomp/exchange/detail/hops.hpp"

namespace gradcomp::reducers {

ReducerEntry tree() {
  return hop_entry("tree", "adds messages up a binomial tree and sends the sum down again", binomial_tree);
}

}  // namespace gradcomp::reducers

#include "gradcomp/exchange/reducers/tree.hpp"

namespace gradcomp {

ReducerEntry reducers::tree() {
  return hop_entry("tree", "adds messages up a binomial tree and sends the sum down again", binomial_tree);
}

}  // namespace gradcomp

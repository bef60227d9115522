#pragma once
// Deals `count` elements to `parts` owners as evenly as possible: the first owners get one element more.
#include "gradcomp/core/types.hpp"

namespace gradcomp::comm {

inline index_t block_size(index_t count, int parts, int block) {
  return count / parts + (block < count % parts ? 1 : 0);
}

inline index_t block_offset(index_t count, int parts, int block) {
  const index_t extra = count % parts;
  return count / parts * block + (block < extra ? block : extra);
}

}  // namespace gradcomp::comm

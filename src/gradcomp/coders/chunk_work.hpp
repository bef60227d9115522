#pragma once
// Work space of coders that work on chunks of words and of entries (kernels/pack/bit_vector.hpp).
#include <algorithm>

#include "gradcomp/kernels/pack/bit_vector.hpp"

namespace gradcomp::coders {

/// IndexCoderEntry::work: one word for each chunk of a section of `max_bytes` bytes, or of `capacity` entries.
inline index_t chunk_work(index_t capacity, index_t max_bytes) {
  return std::max(kernels::word_chunks(max_bytes / 4), kernels::entry_chunks(capacity));
}

}  // namespace gradcomp::coders

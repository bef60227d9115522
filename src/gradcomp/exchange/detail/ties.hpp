#pragma once
// Elements of which as many ranks have a set sign bit as have not: a quarter to a half of all on few ranks with noisy
// gradients. If all of them counted as +, as in BytePS and GRACE, an even number of ranks would drive every parameter
// down until its gradients agree; two ranks then learn nothing.
#include "gradcomp/core/compressor.hpp"

namespace gradcomp {

/// The bits of a word of signs that ties take, of a method (or composition) with option `ties`: none (positive), or
/// every other one, the others in the next step (alternating), so that ties of a word and of two steps cancel.
inline std::uint32_t tie_bits(const Compressor& compressor, std::int64_t step) {
  if (compressor.options().canonical().find("ties=positive") != std::string::npos) return 0;
  return step % 2 == 0 ? 0xaaaaaaaau : 0x55555555u;
}

}  // namespace gradcomp

#pragma once
// Ties of votes: elements whose sign bit is set on exactly half of the ranks. On few ranks with noisy gradients these
// are a quarter to a half of all elements. If all of them counted as +, as in BytePS and GRACE, an even number of ranks
// would drive every parameter down until its gradients agree; two ranks would learn nothing.
#include "gradcomp/core/compressor.hpp"

namespace gradcomp {

/// The bits of a word of signs that are set in a tie, for a method (or composition) with the option `ties`. positive:
/// none. alternating: every other bit, and in the next exchange the others, so that the ties of a word and of two
/// exchanges cancel out. `turn`: Context::turn().
inline std::uint32_t tie_bits(const Compressor& compressor, std::int64_t turn) {
  if (compressor.options().canonical().find("ties=positive") != std::string::npos) return 0;
  return turn % 2 == 0 ? 0xaaaaaaaau : 0x55555555u;
}

}  // namespace gradcomp

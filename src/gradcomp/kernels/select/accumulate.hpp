#pragma once
// The first touch of methods that need nothing but a: no statistics, no sample.
#include "gradcomp/core/source.hpp"
#include "gradcomp/core/tally.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

/// Forms a = Source::accumulate() of the whole source, and counts the elements that were not finite.
void accumulate(const Exec& exec, const Tiles& tiles, const Source& source, const Tally& non_finite);

}  // namespace gradcomp::kernels

#pragma once
// The first pass of methods that need only a, without statistics or a sample.
#include "gradcomp/core/source.hpp"
#include "gradcomp/core/tally.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

/// Forms a = Source::accumulate() for the whole source, and counts the elements that were not finite.
void accumulate(const Exec& exec, const Tiles& tiles, const Source& source, const Tally& non_finite);

}  // namespace gradcomp::kernels

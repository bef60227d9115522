#pragma once
// The first pass of methods that need only a, without statistics or a sample.
#include "gradcomp/core/payload.hpp"
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

namespace gradcomp::kernels {

/// Forms a = Source::accumulate() for the whole source, and notes elements that are not finite.
void accumulate(const Exec& exec, const Tiles& tiles, const Source& source, const Mark& mark);

}  // namespace gradcomp::kernels

#pragma once
// The first touch of methods that need nothing but a: no statistics, no sample.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/tiles.hpp"

namespace gradcomp::kernels {

/// Forms a = Source::first() of the whole source; returns how many elements were not finite. `count`: one element of
/// work space. Waits for exec.
index_t touch_source(const Exec& exec, const Tiles& tiles, const Source& source, const Vector<index_t>& count);

}  // namespace gradcomp::kernels

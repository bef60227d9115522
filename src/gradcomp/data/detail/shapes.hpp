#pragma once
// The ten shapes of ShapeTex-10 as (approximate) signed distances, negative inside a shape. In the frame of a shape, u
// points to the right and v downwards, and the shape lies within about [-1, 1]. The areas of the shapes are similar.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "gradcomp/data/detail/exact.hpp"

namespace gradcomp::data::detail {

inline double box(double u, double v, double half_width, double half_height) {
  return std::max(std::fabs(u) - half_width, std::fabs(v) - half_height);
}

inline double shape_distance(std::uint8_t shape, double u, double v) {
  switch (shape) {
    case 0:  // disk
      return length(u, v) - 0.9;
    case 1:  // ring
      return std::fabs(length(u, v) - 0.75) - 0.2;
    case 2:  // square
      return box(u, v, 0.8, 0.8);
    case 3:  // frame
      return std::fabs(box(u, v, 0.7, 0.7)) - 0.18;
    case 4: {  // triangle: base at v = 0.75, apex at (0, -0.95), sides with normal (0.873, -0.488)
      const double side = mul(0.873F, rounded(std::fabs(u))) - mul(0.488F, rounded(v + 0.95));
      return std::max(side, v - 0.75);
    }
    case 5:  // plus
      return std::min(box(u, v, 0.28, 0.9), box(u, v, 0.9, 0.28));
    case 6:  // crescent: a disk from which a second disk, further right, is cut out
      return std::max(length(u, v) - 0.95, 0.75 - length(u - 0.45, v));
    case 7:  // half-disk, flat side down
      return std::max(length(u, v - 0.4) - 1.0, v - 0.4);
    case 8:  // two upright bars
      return box(std::fabs(u) - 0.55, v, 0.22, 0.85);
    default:  // T
      return std::min(box(u, v + 0.6, 0.85, 0.25), box(u, v, 0.25, 0.85));
  }
}

}  // namespace gradcomp::data::detail

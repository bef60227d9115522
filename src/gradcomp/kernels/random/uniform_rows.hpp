#pragma once
// Uniform random numbers for stochastic rounding of 128 elements at a time: one Threefry draw gives a lane the numbers
// for its four elements.
#include "gradcomp/kernels/lanes/lanes.hpp"
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp::kernels {

inline constexpr int uniform_rows = 4;
inline constexpr index_t uniform_elements = uniform_rows * warp_lanes;

/// u[row][l] in [0, 1), a multiple of 2^-24, for element + 32 row + l. `element` is a multiple of 128 and counts from
/// the start of its segment. The number of an element depends only on the key and its index.
KOKKOS_FORCEINLINE_FUNCTION void draw_uniform(const Warp& warp, const Array4& key, index_t element,
                                              Lanes<float> (&u)[uniform_rows]) {
  const Array4 counter = stream_counter(element, random_stream::rounding, 0);
  warp.each([&](int l) {
    // no carry, because the low bits of `element` are zero
    const Array4 draw =
        threefry4x32_12(key, {counter.x0 + static_cast<std::uint32_t>(l), counter.x1, counter.x2, counter.x3});
    u[0][l] = uniform24(draw.x0);
    u[1][l] = uniform24(draw.x1);
    u[2][l] = uniform24(draw.x2);
    u[3][l] = uniform24(draw.x3);
  });
}

}  // namespace gradcomp::kernels

#pragma once
// A Source read 32 elements at a time. The kind is looked at once per row: a branch that always goes the same way costs
// nothing beside 32 loads, and kernels need no instantiation per kind.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes.hpp"

namespace gradcomp::kernels {

/// x[l] = data[l] for l < active, 0 for the other lanes.
KOKKOS_FORCEINLINE_FUNCTION void load_row(const Warp& warp, const float* data, int active, Lanes<float>& x) {
  if (active >= warp_lanes) {
    warp.each([&](int l) { x[l] = data[l]; });
  } else {
    warp.each([&](int l) { x[l] = l < active ? data[l] : 0.0f; });
  }
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION void store_row(const Warp& warp, T* data, int active, const Lanes<T>& x) {
  if (active >= warp_lanes) {
    warp.each([&](int l) { data[l] = x[l]; });
  } else {
    warp.each([&](int l) {
      if (l < active) data[l] = x[l];
    });
  }
}

/// Source::first() of elements i .. i + active - 1, bit for bit. bad[l] grows by one where the new value was not finite
/// and the memory therefore stayed as it was. Lanes beyond `active` hold 0.
KOKKOS_FORCEINLINE_FUNCTION void first_row(const Warp& warp, const Source& source, index_t i, int active,
                                           Lanes<float>& a, Lanes<std::int32_t>& bad) {
  Lanes<float> g;
  load_row(warp, source.gradient + i, active, g);
  if (source.kind == Source::Kind::none) {
    warp.each([&](int l) {
      const bool good = Source::is_finite(g[l]);
      a[l] = good ? g[l] : 0.0f;
      bad[l] += good ? 0 : 1;
    });
    return;
  }
  const float beta = source.beta, gamma = source.gamma;
  Lanes<float> r;
  load_row(warp, source.memory + i, active, r);
  warp.each([&](int l) {
    const float sum = beta * r[l] + gamma * g[l];
    const bool good = Source::is_finite(sum);
    a[l] = good ? sum : r[l];
    bad[l] += good ? 0 : 1;
  });
  store_row(warp, source.memory + i, active, a);
}

/// Source::sent() of elements i .. i + active - 1: what stays of a when receivers decode `decoded`.
KOKKOS_FORCEINLINE_FUNCTION void sent_row(const Warp& warp, const Source& source, index_t i, int active,
                                          const Lanes<float>& a, const Lanes<float>& decoded) {
  if (source.kind == Source::Kind::none) return;
  Lanes<float> rest;
  warp.each([&](int l) { rest[l] = a[l] - decoded[l]; });
  store_row(warp, source.memory + i, active, rest);
}

}  // namespace gradcomp::kernels

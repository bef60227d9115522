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

namespace detail {
/// The part of first_row() for sources with a memory.
template <Source::Kind kind>
KOKKOS_FORCEINLINE_FUNCTION void add_row(const Warp& warp, const Source& source, index_t i, int active,
                                         const Lanes<float>& g, const Lanes<float>& r, Lanes<float>& u, Lanes<float>& a,
                                         Lanes<std::int32_t>& bad) {
  Source rule = source;  // a local with a constant kind: its choices are made by the compiler
  rule.kind = kind;
  warp.each([&](int l) {
    const Source::Sum sum = rule.add(rule.gamma * g[l], r[l], u[l]);
    const bool good = Source::is_finite(sum.a);
    a[l] = good ? sum.a : kind == Source::Kind::ef21 ? 0.0f : r[l];
    u[l] = good ? sum.velocity : u[l];
    bad[l] += good ? 0 : 1;
  });
  if (kind != Source::Kind::residual && source.velocity != nullptr) store_row(warp, source.velocity + i, active, u);
  store_row(warp, (kind == Source::Kind::ef21 ? source.work : source.memory) + i, active, a);
}
}  // namespace detail

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
  Lanes<float> r, u;
  load_row(warp, source.memory + i, active, r);
  const bool moving = source.velocity != nullptr;
  if (moving) {
    load_row(warp, source.velocity + i, active, u);
  } else {
    warp.each([&](int l) { u[l] = 0; });
  }
  switch (source.kind) {  // outside of the loops over lanes, which then vectorise
    case Source::Kind::residual:
      return detail::add_row<Source::Kind::residual>(warp, source, i, active, g, r, u, a, bad);
    case Source::Kind::momentum_correction:
      return detail::add_row<Source::Kind::momentum_correction>(warp, source, i, active, g, r, u, a, bad);
    default:
      return detail::add_row<Source::Kind::ef21>(warp, source, i, active, g, r, u, a, bad);
  }
}

/// Source::sent() of elements i .. i + active - 1: what stays of a when receivers decode `decoded`.
KOKKOS_FORCEINLINE_FUNCTION void sent_row(const Warp& warp, const Source& source, index_t i, int active,
                                          const Lanes<float>& a, const Lanes<float>& decoded) {
  if (source.kind == Source::Kind::none) return;
  Lanes<float> rest;
  if (source.kind == Source::Kind::ef21) {
    Lanes<float> h;
    load_row(warp, source.memory + i, active, h);
    warp.each([&](int l) { rest[l] = h[l] + decoded[l]; });
  } else {
    warp.each([&](int l) { rest[l] = a[l] - decoded[l]; });
  }
  store_row(warp, source.memory + i, active, rest);
  if (!source.masking) return;
  Lanes<float> zero;
  warp.each([&](int l) { zero[l] = 0; });
  store_row(warp, source.velocity + i, active, zero);
}

}  // namespace gradcomp::kernels

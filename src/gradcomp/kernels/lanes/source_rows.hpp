#pragma once
// Reads and writes a Source in rows of 32 elements. The kind of feedback is tested once per row: a branch that always
// goes the same way costs nothing beside 32 loads, and kernels need no instantiation for each kind.
#include "gradcomp/core/source.hpp"
#include "gradcomp/kernels/lanes/prefetch.hpp"

namespace gradcomp::kernels {

/// x[l] = data[l] for l < active, 0 for the other lanes.
KOKKOS_FORCEINLINE_FUNCTION void load_row(const Warp& warp, const float* data, int active, Lanes<float>& x) {
  if (active >= warp_lanes) {
    warp.each([&](int l) { x[l] = data[l]; });
  } else {
    warp.each([&](int l) { x[l] = l < active ? data[l] : 0.0f; });
  }
}

/// data[l] = x[l] for l < active.
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

/// Stores the first `count` elements of the rows x.
template <class T, int rows>
KOKKOS_FORCEINLINE_FUNCTION void store_rows(const Warp& warp, T* data, index_t count, const Lanes<T> (&x)[rows]) {
  GRADCOMP_UNROLL
  for (int row = 0; row < rows; ++row) {
    const index_t left = count - row * warp_lanes;
    if (left <= 0) return;
    store_row(warp, data + row * warp_lanes, static_cast<int>(left < warp_lanes ? left : warp_lanes), x[row]);
  }
}

namespace detail {
/// accumulate_row() for sources with this rule. u is the velocity, or 0.
template <class Rule>
KOKKOS_FORCEINLINE_FUNCTION void add_row(const Warp& warp, const Source& source, const Rule& rule, index_t i,
                                         int active, const Lanes<float>& g, const Lanes<float>& r, Lanes<float>& u,
                                         Lanes<float>& a, Lanes<std::int32_t>& bad) {
  warp.each([&](int l) {
    const Source::Sum sum = rule.add(g[l], r[l], u[l]);
    const bool good = Source::is_finite(sum.a);
    a[l] = good ? sum.a : Rule::in_memory ? r[l] : 0.0f;
    u[l] = good ? sum.velocity : u[l];
    bad[l] += good ? 0 : 1;
  });
  if (Rule::moves && source.velocity != nullptr) store_row(warp, source.velocity + i, active, u);
  store_row(warp, (Rule::in_memory ? source.memory : source.work) + i, active, a);
}
}  // namespace detail

/// Source::accumulate() for elements i .. i + active - 1, bit for bit. If the new value of lane l is not finite, bad[l]
/// grows by one and the memory stays as it was. Lanes from `active` on get 0.
KOKKOS_FORCEINLINE_FUNCTION void accumulate_row(const Warp& warp, const Source& source, index_t i, int active,
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
  with_rule(source, [&](const auto& rule) {  // outside of the loops over lanes, so that these vectorise
    detail::add_row(warp, source, rule, i, active, g, r, u, a, bad);
  });
}

/// Source::sent() for elements i .. i + active - 1, for which receivers decode `decoded`.
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

/// How many rows are handled together in registers; the loops over them are unrolled.
inline constexpr int group_rows = 8;

namespace detail {
/// What the sum of a residual and a gradient is made of.
struct Residual {
  float memory, gradient;
};

/// The whole groups of accumulate_rows() with momentum correction. Returns the number of their elements.
template <int rows, bool nesterov, class Use, class Done>
KOKKOS_FORCEINLINE_FUNCTION index_t first_momentum(const Warp& warp, const Source& source, index_t i, index_t count,
                                                   Lanes<std::int32_t>& bad, const Use& use, const Done& done) {
  struct Read {
    float g, v, u;
  };
  constexpr index_t together = rows * warp_lanes;
  const MomentumRule<nesterov> rule(source);
  index_t e = 0;
  for (; e + together <= count; e += together) {
    const float* const g = source.gradient + i + e;
    float *const memory = source.memory + i + e, *const velocity = source.velocity + i + e;
    prefetch_rows<rows>(g);
    prefetch_rows<rows>(memory);
    prefetch_rows<rows>(velocity);
    const int row = static_cast<int>(e / warp_lanes);
    warp.each([&](int l) {
      const auto load = [&](int r) {
        const int at = r * warp_lanes + l;
        return Read{g[at], memory[at], velocity[at]};
      };
      load_then_use<rows>(load, [&](int r, const Read& old) {
        const Source::Sum sum = rule.add(old.g, old.v, old.u);
        const bool good = Source::is_finite(sum.a);
        const float a = good ? sum.a : old.v;
        bad[l] += good ? 0 : 1;
        velocity[r * warp_lanes + l] = good ? sum.velocity : old.u;
        memory[r * warp_lanes + l] = a;
        use(l, a, row + r);
      });
    });
    done(e, together);
  }
  return e;
}

/// The default of `done` in accumulate_rows().
struct Nothing {
  KOKKOS_FORCEINLINE_FUNCTION void operator()(index_t, index_t) const {}
};
}  // namespace detail

/// Source::accumulate() for elements i .. i + count - 1, with use(l, a, row) for every lane of every row, in the order
/// of the rows; a = 0 beyond the last element. done(e, n) follows when elements i + e .. i + e + n - 1 are formed,
/// while they are still in the first-level cache. The most important kinds handle whole groups in registers: through a
/// Lanes<float>, a row costs 5 to 10 times as many cycles on a host.
template <int rows = group_rows, class Use, class Done = detail::Nothing>
KOKKOS_FORCEINLINE_FUNCTION void accumulate_rows(const Warp& warp, const Source& source, index_t i, index_t count,
                                                 Lanes<std::int32_t>& bad, const Use& use, const Done& done = {}) {
  constexpr index_t together = rows * warp_lanes;
  index_t e = 0;
  if (source.kind == Source::Kind::none) {
    for (; e + together <= count; e += together) {
      const float* const g = source.gradient + i + e;
      prefetch_rows<rows>(g);
      const int row = static_cast<int>(e / warp_lanes);
      warp.each([&](int l) {
        load_then_use<rows>([&](int r) { return g[r * warp_lanes + l]; },
                            [&](int r, float x) {
                              const bool good = Source::is_finite(x);
                              bad[l] += good ? 0 : 1;
                              use(l, good ? x : 0.0f, row + r);
                            });
      });
      done(e, together);
    }
  } else if (source.kind == Source::Kind::residual) {
    const ResidualRule rule(source);
    for (; e + together <= count; e += together) {
      const float* const g = source.gradient + i + e;
      float* const memory = source.memory + i + e;
      prefetch_rows<rows>(g);
      prefetch_rows<rows>(memory);
      const int row = static_cast<int>(e / warp_lanes);
      warp.each([&](int l) {
        const auto load = [&](int r) { return detail::Residual{memory[r * warp_lanes + l], g[r * warp_lanes + l]}; };
        load_then_use<rows>(load, [&](int r, const detail::Residual& x) {
          const float old = x.memory, sum = rule.add(x.gradient, old, 0).a;
          const bool good = Source::is_finite(sum);
          const float a = good ? sum : old;
          bad[l] += good ? 0 : 1;
          memory[r * warp_lanes + l] = a;
          use(l, a, row + r);
        });
      });
      done(e, together);
    }
  } else if (source.kind == Source::Kind::momentum_correction) {
    e = source.nesterov ? detail::first_momentum<rows, true>(warp, source, i, count, bad, use, done)
                        : detail::first_momentum<rows, false>(warp, source, i, count, bad, use, done);
  }
  for (; e < count; e += warp_lanes) {
    const int active = static_cast<int>(count - e < warp_lanes ? count - e : warp_lanes);
    Lanes<float> a;
    accumulate_row(warp, source, i + e, active, a, bad);
    warp.each([&](int l) { use(l, a[l], static_cast<int>(e / warp_lanes)); });
    done(e, active);
  }
}

/// a as accumulate_row() returned it, for a later pass of the same warp.
KOKKOS_FORCEINLINE_FUNCTION void load_finite_row(const Warp& warp, const Source& source, index_t i, int active,
                                                 Lanes<float>& a) {
  load_row(warp, source.accumulated() + i, active, a);
  if (source.kind != Source::Kind::none) return;  // a memory is finite
  warp.each([&](int l) { a[l] = Source::is_finite(a[l]) ? a[l] : 0.0f; });
}

namespace detail {
/// Whether send_whole() handles groups of this source.
KOKKOS_FORCEINLINE_FUNCTION bool sends_whole(const Source& source) {
  return source.kind == Source::Kind::none || source.kind == Source::Kind::residual;
}

/// Sends `rows` whole rows from element i on. Receivers decode code(l, a, r).
template <int rows, class Code>
KOKKOS_FORCEINLINE_FUNCTION void send_whole(const Warp& warp, const Source& source, index_t i, const Code& code) {
  if (source.kind == Source::Kind::none) {
    const float* const g = source.gradient + i;
    warp.each([&](int l) {
      load_then_use<rows>([&](int r) { return g[r * warp_lanes + l]; }, [&](int r, float a) { code(l, a, r); });
    });
  } else {
    float* const memory = source.memory + i;
    warp.each([&](int l) {
      load_then_use<rows>([&](int r) { return memory[r * warp_lanes + l]; },
                          [&](int r, float a) { memory[r * warp_lanes + l] = a - code(l, a, r); });
    });
  }
}

/// Sends elements i .. i + active - 1 of any source. Receivers decode code(l, a).
template <class Code>
KOKKOS_FORCEINLINE_FUNCTION void send_row(const Warp& warp, const Source& source, index_t i, int active,
                                          const Code& code) {
  Lanes<float> a, decoded;
  load_row(warp, source.accumulated() + i, active, a);
  warp.each([&](int l) { decoded[l] = code(l, a[l]); });
  sent_row(warp, source, i, active, a, decoded);
}
}  // namespace detail

/// A later pass over elements i .. i + count - 1 that sends them: receivers decode code(l, a, row), which is called for
/// every lane of every row (a = 0 beyond the last element), and the memory keeps the rest.
template <int rows = group_rows, class Code>
KOKKOS_FORCEINLINE_FUNCTION void send_rows(const Warp& warp, const Source& source, index_t i, index_t count,
                                           const Code& code) {
  constexpr index_t together = rows * warp_lanes;
  index_t e = 0;
  if (detail::sends_whole(source)) {
    for (; e + together <= count; e += together) {
      const int row = static_cast<int>(e / warp_lanes);
      detail::send_whole<rows>(warp, source, i + e, [&](int l, float a, int r) { return code(l, a, row + r); });
    }
  }
  for (; e < count; e += warp_lanes) {
    const int active = static_cast<int>(count - e < warp_lanes ? count - e : warp_lanes);
    const int row = static_cast<int>(e / warp_lanes);
    detail::send_row(warp, source, i + e, active, [&](int l, float a) { return code(l, a, row); });
  }
}

/// send_rows() of at most `rows` rows, whose numbers are constants: what `code` finds by them stays in registers.
template <int rows, class Code>
KOKKOS_FORCEINLINE_FUNCTION void send_group(const Warp& warp, const Source& source, index_t i, index_t count,
                                            const Code& code) {
  if (count >= rows * warp_lanes && detail::sends_whole(source)) {
    detail::send_whole<rows>(warp, source, i, code);
    return;
  }
  GRADCOMP_UNROLL
  for (int r = 0; r < rows; ++r) {
    const index_t left = count - r * warp_lanes;
    if (left <= 0) return;
    const int active = static_cast<int>(left < warp_lanes ? left : warp_lanes);
    detail::send_row(warp, source, i + r * warp_lanes, active, [&](int l, float a) { return code(l, a, r); });
  }
}

/// The only pass over elements i .. i + count - 1, which are at most `rows` rows: accumulate_row() and sent_row() in
/// one. Receivers decode code(l, a, good, row); if `good` is false, nothing may be sent, and `code` must return 0.
template <int rows, class Code>
KOKKOS_FORCEINLINE_FUNCTION void touch_rows(const Warp& warp, const Source& source, index_t i, index_t count,
                                            Lanes<std::int32_t>& bad, const Code& code) {
  const bool whole = count >= rows * warp_lanes;
  const float* const g = source.gradient + i;
  prefetch_rows<rows>(g);
  if (whole && source.kind == Source::Kind::none) {
    warp.each([&](int l) {
      load_then_use<rows>([&](int r) { return g[r * warp_lanes + l]; },
                          [&](int r, float x) {
                            const bool good = Source::is_finite(x);
                            bad[l] += good ? 0 : 1;
                            code(l, good ? x : 0.0f, good, r);
                          });
    });
    return;
  }
  if (whole && source.kind == Source::Kind::residual) {
    float* const memory = source.memory + i;
    prefetch_rows<rows>(memory);
    const ResidualRule rule(source);
    warp.each([&](int l) {
      const auto load = [&](int r) { return detail::Residual{memory[r * warp_lanes + l], g[r * warp_lanes + l]}; };
      load_then_use<rows>(load, [&](int r, const detail::Residual& x) {
        const float old = x.memory, sum = rule.add(x.gradient, old, 0).a;
        const bool good = Source::is_finite(sum);
        const float a = good ? sum : old;
        bad[l] += good ? 0 : 1;
        memory[r * warp_lanes + l] = a - code(l, a, good, r);
      });
    });
    return;
  }
  GRADCOMP_UNROLL
  for (int r = 0; r < rows; ++r) {
    const index_t e = index_t{r} * warp_lanes;
    if (e >= count) return;
    const int active = static_cast<int>(count - e < warp_lanes ? count - e : warp_lanes);
    Lanes<float> a, decoded;
    Lanes<std::int32_t> here;
    warp.each([&](int l) { here[l] = 0; });
    accumulate_row(warp, source, i + e, active, a, here);
    warp.each([&](int l) {
      bad[l] += here[l];
      decoded[l] = code(l, a[l], here[l] == 0, r);
    });
    sent_row(warp, source, i + e, active, a, decoded);
  }
}

}  // namespace gradcomp::kernels

#pragma once
// The 32-lane "virtual warp": one kernel body that vectorises on hosts and maps to a (sub)warp on devices.
//
// A Lanes<T> holds one value per lane, and warp.each([&](int l) {...}) runs a step on all of them. On a host the lanes
// are local arrays and each() a loop that gcc vectorises, because locals cannot alias the data; 32 lanes are needed,
// with 8 or 16 gcc unrolls the loop completely first and emits scalar code (4.5x slower). On a device every lane is a
// thread and a Lanes<T> its register. Cross-lane operations have one fixed order, so both give the same bits.
#include <string>
#include <type_traits>

#include "gradcomp/core/tally.hpp"

/// In front of a loop of at most 8 steps whose values are to stay in registers.
#if defined(__CUDACC__) || defined(__clang__)
#define GRADCOMP_UNROLL _Pragma("unroll")
#else
#define GRADCOMP_UNROLL _Pragma("GCC unroll 8")
#endif

namespace gradcomp::kernels {

inline constexpr int warp_lanes = 32;

/// True where a lane is a thread of its own.
inline constexpr bool lanes_are_threads = !std::is_same_v<Exec, HostExec>;

/// One T per lane. A local variable of kernels only: its size differs between hosts and devices.
template <class T>
struct Lanes {
  T slot[lanes_are_threads ? 1 : warp_lanes];

  KOKKOS_INLINE_FUNCTION T& operator[](int lane) { return slot[lanes_are_threads ? 0 : lane]; }
  KOKKOS_INLINE_FUNCTION const T& operator[](int lane) const { return slot[lanes_are_threads ? 0 : lane]; }
};

/// 32 lanes of one host thread.
struct HostWarp {
  /// f(lane) for all lanes.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(const F& f) const {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep  // lanes do not depend on each other: no check for overlapping arrays in front of every row
#endif
    for (int l = 0; l < warp_lanes; ++l) f(l);
  }

  /// f() once.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void once(const F& f) const {
    f();
  }

  /// Bit l = f(l).
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t ballot(const F& f) const {
    struct Bytes {
      std::uint8_t at[warp_lanes];
    } flags;
    struct Words {
      std::uint64_t at[warp_lanes / 8];
    };
    for (int l = 0; l < warp_lanes; ++l) flags.at[l] = f(l) ? 1 : 0;
    const auto words = Kokkos::bit_cast<Words>(flags);
    std::uint32_t mask = 0;
    for (int w = 0; w < warp_lanes / 8; ++w)  // a product whose top byte collects the lowest bits of all eight
      mask |= static_cast<std::uint32_t>((words.at[w] * 0x0102040810204080u) >> 56) << (8 * w);
    return mask;
  }

  /// Sum of all lanes, halving: lane l takes lane l + 16, then + 8, 4, 2, 1. For all lanes.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Lanes<T>& x) const {
    return halve(x, [](T a, T b) { return a + b; });
  }

  /// Maximum of all lanes, for all lanes.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T max(const Lanes<T>& x) const {
    return halve(x, [](T a, T b) { return b > a ? b : a; });
  }

  /// Replaces x by the sums of the lanes below; returns the sum of all. Integers only.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T exclusive_sum(Lanes<T>& x) const {
    T total = 0;
    for (int l = 0; l < warp_lanes; ++l) {
      const T value = x[l];
      x[l] = total;
      total += value;
    }
    return total;
  }

  /// The value of one lane, for all.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T broadcast(const Lanes<T>& x, int lane) const {
    return x[lane];
  }

  /// f(lane, rank) for every set bit of mask; rank counts the set bits below.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_set(std::uint32_t mask, const F& f) const {
    for (int rank = 0; mask != 0; mask &= mask - 1) f(Kokkos::countr_zero(mask), rank++);
  }

  /// for_set() that may call f for up to two ranks beyond the last, with any lane: sparse masks then cost no
  /// mispredicted branch (1.5x at 1 % set bits). The target of f needs room for them.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_set_padded(std::uint32_t mask, const F& f) const {
    constexpr std::uint32_t last = 1u << (warp_lanes - 1);  // keeps the lane of an empty mask in range
    f(Kokkos::countr_zero(mask | last), 0);
    mask &= mask - 1;
    f(Kokkos::countr_zero(mask | last), 1);
    mask &= mask - 1;
    for (int rank = 2; mask != 0; mask &= mask - 1) f(Kokkos::countr_zero(mask), rank++);
  }

 private:
  /// One loop per width, of constant length: they become one vector operation each.
  template <class T, class Join>
  KOKKOS_FORCEINLINE_FUNCTION T halve(const Lanes<T>& x, const Join& join) const {
    T a[16], b[8], c[4];
    for (int l = 0; l < 16; ++l) a[l] = join(x[l], x[l + 16]);
    for (int l = 0; l < 8; ++l) b[l] = join(a[l], a[l + 8]);
    for (int l = 0; l < 4; ++l) c[l] = join(b[l], b[l + 4]);
    return join(join(c[0], c[2]), join(c[1], c[3]));
  }
};

using WarpPolicy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256, 2>>;

/// 32 lanes as threads: the vector level of a Kokkos team.
struct DeviceWarp {
  const WarpPolicy::member_type& team;

  template <class F>
  KOKKOS_INLINE_FUNCTION void each(const F& f) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, warp_lanes), f);
  }

  template <class F>
  KOKKOS_INLINE_FUNCTION void once(const F& f) const {
    Kokkos::single(Kokkos::PerThread(team), f);
  }

  template <class F>
  KOKKOS_INLINE_FUNCTION std::uint32_t ballot(const F& f) const {
#ifdef __CUDA_ARCH__  // one instruction instead of five shuffles
    return __ballot_sync(0xffffffffu, f(static_cast<int>(threadIdx.x)));
#else
    std::uint32_t mask = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, warp_lanes),
        [&](int l, std::uint32_t& bits) { bits |= static_cast<std::uint32_t>(f(l)) << l; },
        Kokkos::BOr<std::uint32_t>(mask));
    return mask;
#endif
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION T sum(const Lanes<T>& x) const {  // Kokkos' vector reduction halves too
    T total = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, warp_lanes), [&](int, T& value) { value += x.slot[0]; }, Kokkos::Sum<T>(total));
    return total;
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION T max(const Lanes<T>& x) const {
    T most = x.slot[0];
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, warp_lanes),
        [&](int, T& value) { value = x.slot[0] > value ? x.slot[0] : value; }, Kokkos::Max<T>(most));
    return most;
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION T exclusive_sum(Lanes<T>& x) const {
    const T total = sum(x), value = x.slot[0];
    Kokkos::parallel_scan(Kokkos::ThreadVectorRange(team, warp_lanes), [&](int, T& below, bool final) {
      if (final) x.slot[0] = below;
      below += value;
    });
    return total;
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION T broadcast(const Lanes<T>& x, int lane) const {
    T value = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, warp_lanes), [&](int l, T& chosen) { chosen += l == lane ? x.slot[0] : T(0); },
        Kokkos::Sum<T>(value));
    return value;
  }

  template <class F>
  KOKKOS_INLINE_FUNCTION void for_set(std::uint32_t mask, const F& f) const {
    each([&](int l) {
      if ((mask >> l) & 1u) f(l, Kokkos::popcount(mask & ((1u << l) - 1u)));
    });
  }

  template <class F>
  KOKKOS_INLINE_FUNCTION void for_set_padded(std::uint32_t mask, const F& f) const {
    for_set(mask, f);
  }
};

using Warp = std::conditional_t<lanes_are_threads, DeviceWarp, HostWarp>;

namespace detail {
// Two overloads instead of `if constexpr`: nvcc refuses extended lambdas that capture inside one.
template <class F>
void for_warps(std::true_type, const std::string& label, const Exec& exec, index_t count, const F& f) {
  constexpr int warps_per_team = 8;
  const auto teams = static_cast<int>((count + warps_per_team - 1) / warps_per_team);
  Kokkos::parallel_for(
      label, WarpPolicy(exec, teams, warps_per_team, warp_lanes), KOKKOS_LAMBDA(const WarpPolicy::member_type& team) {
        const index_t i = static_cast<index_t>(team.league_rank()) * warps_per_team + team.team_rank();
        if (i < count) f(DeviceWarp{team}, i);
      });
}

template <class F>
void for_warps(std::false_type, const std::string& label, const Exec& exec, index_t count, const F& f) {
  Kokkos::parallel_for(label, IndexRange(exec, 0, count), KOKKOS_LAMBDA(index_t i) { f(HostWarp{}, i); });
}
}  // namespace detail

/// f(l, e) for every element e of [0, count), on lane l = e mod 32, in order. Eight rows at a time in one loop over the
/// lanes, so that what f adds up per lane stays in registers.
template <int rows = 8, class F>
KOKKOS_FORCEINLINE_FUNCTION void each_element(const Warp& warp, index_t count, const F& f) {
  index_t e = 0;
  for (; e + rows * warp_lanes <= count; e += rows * warp_lanes) {
    warp.each([&](int l) {
      GRADCOMP_UNROLL
      for (int r = 0; r < rows; ++r) f(l, e + r * warp_lanes + l);
    });
  }
  for (; e + warp_lanes <= count; e += warp_lanes) warp.each([&](int l) { f(l, e + l); });
  if (e < count) {
    warp.each([&](int l) {
      if (e + l < count) f(l, e + l);
    });
  }
}

/// Runs f(warp, i) for i in [0, count), each i on one warp; f is a KOKKOS_LAMBDA(const Warp&, index_t).
template <class F>
void for_warps(const std::string& label, const Exec& exec, index_t count, const F& f) {
  if (count > 0) detail::for_warps(std::bool_constant<lanes_are_threads>{}, label, exec, count, f);
}

/// f(i) for i in [0, count), a few: one thread each, or a plain loop where the host looks at what they do at once
/// (Context::host_looks), since a launch would take longer.
template <class F>
void for_few(const char* label, const Exec& exec, index_t count, bool host_looks, const F& f) {
  if constexpr (device_is_host) {
    if (host_looks) {
      for (index_t i = 0; i < count; ++i) f(i);
      return;
    }
  }
  Kokkos::parallel_for(label, IndexRange(exec, 0, count), f);
}

/// f(warp, 0); where the host looks, on its own thread.
template <class F, class W = Warp>  // W: a name that depends, since a DeviceWarp cannot be made here
void for_one_warp(const char* label, const Exec& exec, bool host_looks, const F& f) {
  if constexpr (device_is_host) {
    if (host_looks) return f(W{}, index_t{0});
  }
  for_warps(label, exec, 1, f);
}

/// f where the gate is open.
template <class F>
struct Gated {
  Gate gate;
  F f;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Warp& warp, index_t i) const {
    if (gate.open()) f(warp, i);
  }
};

/// for_warps() where the gate is open: the host decides where it can, else every warp does.
template <class F>
void for_warps(const std::string& label, const Exec& exec, index_t count, const Gate& gate, const F& f) {
  if (!gate.may_open()) return;
  if constexpr (device_is_host) {
    for_warps(label, exec, count, f);
  } else {
    for_warps(label, exec, count, Gated<F>{gate, f});
  }
}

}  // namespace gradcomp::kernels

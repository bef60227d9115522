#pragma once
// The "virtual warp" of 32 lanes: one kernel body that vectorises on hosts and maps to a (sub)warp on devices.
//
// A Lanes<T> holds one value per lane, and warp.each([&](int l) {...}) runs a step on all lanes. On a host, a Lanes<T>
// is a local array and each() a loop, which gcc vectorises because local arrays cannot alias the data. This needs 32
// lanes: with 8 or 16 gcc first unrolls the loop completely and emits scalar code (4.5x slower). On a device, every
// lane is a thread and a Lanes<T> is its register. Operations across lanes have one fixed order, so that both give the
// same bits.
#include <string>
#include <type_traits>

#include "gradcomp/core/types.hpp"
#ifdef GRADCOMP_LANES
#include "gradcomp/kernels/lanes/fibres.hpp"
#endif

/// Put it in front of a loop of at most 8 steps whose values must stay in registers.
#if defined(__CUDACC__) || defined(__clang__)
#define GRADCOMP_UNROLL _Pragma("unroll")
#else
#define GRADCOMP_UNROLL _Pragma("GCC unroll 8")
#endif

namespace gradcomp::kernels {

inline constexpr int warp_lanes = 32;

/// Whether every lane is a thread of its own, as on devices, and in the build `lanes` a fibre of a host.
#ifdef GRADCOMP_LANES
inline constexpr bool lanes_are_threads = true;
#else
inline constexpr bool lanes_are_threads = !std::is_same_v<Exec, HostExec>;
#endif

/// One T per lane. Use it only for local variables of kernels, since its size differs between hosts and devices.
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
#pragma GCC ivdep  // lanes do not depend on each other, so no row needs a check for overlapping arrays
#endif
    for (int l = 0; l < warp_lanes; ++l) f(l);
  }

  /// f() once.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void once(const F& f) const {
    f();
  }

  /// What any lane has written to memory before, every lane reads afterwards.
  KOKKOS_FORCEINLINE_FUNCTION void sync() const {}

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
    for (int w = 0; w < warp_lanes / 8; ++w)  // the top byte of the product collects the lowest bits of all eight bytes
      mask |= static_cast<std::uint32_t>((words.at[w] * 0x0102040810204080u) >> 56) << (8 * w);
    return mask;
  }

  /// Sum of all lanes; all lanes get it. It halves: lane l adds lane l + 16, then l + 8, l + 4, l + 2 and l + 1. T may
  /// be a structure of 8-byte words whose operator+ commutes.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Lanes<T>& x) const {
    return halve(x, [](T a, T b) { return a + b; });
  }

  /// Maximum of all lanes; all lanes get it.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T max(const Lanes<T>& x) const {
    return halve(x, [](T a, T b) { return b > a ? b : a; });
  }

  /// Replaces the value of each lane by the sum of the lanes below, and returns the sum of all. Integers only.
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

  /// The value of one lane; all lanes get it.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T broadcast(const Lanes<T>& x, int lane) const {
    return x[lane];
  }

  /// f(lane, rank) for every set bit of mask; rank is the number of set bits below.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_set(std::uint32_t mask, const F& f) const {
    for (int rank = 0; mask != 0; mask &= mask - 1) f(Kokkos::countr_zero(mask), rank++);
  }

  /// Like for_set(), but may call f for up to three ranks beyond the last, with lane 0; f must allow this. Sparse masks
  /// then cost no mispredicted branch. The mask may also be one of 64 lanes.
  template <class Mask, class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_set_padded(Mask mask, const F& f) const {
    constexpr int padded = sizeof(Mask) == 8 ? 3 : 2, lanes = 8 * sizeof(Mask);
    GRADCOMP_UNROLL
    for (int rank = 0; rank < padded; ++rank, mask &= mask - 1) f(Kokkos::countr_zero(mask) & (lanes - 1), rank);
    for (int rank = padded; mask != 0; mask &= mask - 1) f(Kokkos::countr_zero(mask), rank++);
  }

 private:
  /// One loop of constant length per width, so that each becomes one vector operation.
  template <class T, class Join>
  KOKKOS_FORCEINLINE_FUNCTION T halve(const Lanes<T>& x, const Join& join) const {
    T a[16], b[8], c[4];
    for (int l = 0; l < 16; ++l) a[l] = join(x[l], x[l + 16]);
    for (int l = 0; l < 8; ++l) b[l] = join(a[l], a[l + 8]);
    for (int l = 0; l < 4; ++l) c[l] = join(b[l], b[l + 4]);
    return join(join(c[0], c[2]), join(c[1], c[3]));
  }
};

/// The instructions that 32 threads of a device have together. Kokkos' vector ranges stand for loops of any length:
/// with them, a compiler neither keeps several loads of a kernel in flight nor removes the loop. A wavefront of HIP has
/// 64 threads, two of our warps. Hosts call count() alone; the others only have to compile for them.
namespace device {
#if defined(__CUDA_ARCH__)
inline constexpr unsigned all = 0xffffffffu;
KOKKOS_FORCEINLINE_FUNCTION int lane() { return static_cast<int>(threadIdx.x); }
KOKKOS_FORCEINLINE_FUNCTION int thread() { return static_cast<int>(threadIdx.y * warp_lanes + threadIdx.x); }
KOKKOS_FORCEINLINE_FUNCTION void sync() { __syncwarp(); }
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t ballot(bool x) { return __ballot_sync(all, x); }
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void count(T* at) {
  atomicAdd(at, T{1});
}  // Kokkos' takes no instruction of scratch
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T of_lane(T x, int from) {
  return __shfl_sync(all, x, from);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T of_partner(T x, int distance) {  // whose number differs in this bit
  return __shfl_xor_sync(all, x, distance);
}
#elif defined(__HIP_DEVICE_COMPILE__)
KOKKOS_FORCEINLINE_FUNCTION int lane() { return static_cast<int>(threadIdx.x); }
KOKKOS_FORCEINLINE_FUNCTION int thread() { return static_cast<int>(threadIdx.y * warp_lanes + threadIdx.x); }
KOKKOS_FORCEINLINE_FUNCTION void sync() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t ballot(bool x) {
  return static_cast<std::uint32_t>(__ballot(x) >> (__lane_id() & 32u));
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void count(T* at) {
  atomicAdd(at, T{1});
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T of_lane(T x, int from) {
  return __shfl(x, from, warp_lanes);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T of_partner(T x, int distance) {
  return __shfl_xor(x, distance, warp_lanes);
}
#elif defined(GRADCOMP_LANES)
inline int lane() { return fibres::thread() % warp_lanes; }
inline int thread() { return fibres::thread(); }
inline void sync() { fibres::sync(); }
inline std::uint32_t ballot(bool x) { return fibres::ballot(x); }
template <class T>
void count(T* at) {
  ++*at;
}
template <class T>
T of_lane(T x, int from) {
  return fibres::shuffle(x, from);
}
template <class T>
T of_partner(T x, int distance) {
  return fibres::shuffle(x, lane() ^ distance);
}
#else
KOKKOS_FORCEINLINE_FUNCTION int lane() { return 0; }
KOKKOS_FORCEINLINE_FUNCTION int thread() { return 0; }
KOKKOS_FORCEINLINE_FUNCTION void sync() {}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t ballot(bool) { return 0; }
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void count(T* at) {  // hosts call it, with teams of one thread
  ++*at;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T of_lane(T x, int) {
  return x;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T of_partner(T x, int) {
  return x;
}
#endif

/// of_partner() of a structure of words.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T words_of_partner(const T& x, int distance) {
  if constexpr (sizeof(T) <= 8) {
    return of_partner(x, distance);
  } else {
    struct Words {
      std::uint64_t at[sizeof(T) / 8];
    };
    auto words = Kokkos::bit_cast<Words>(x);
    GRADCOMP_UNROLL
    for (std::uint64_t& word : words.at) word = of_partner(word, distance);
    return Kokkos::bit_cast<T>(words);
  }
}
}  // namespace device

/// 32 lanes as threads. each() has no barrier at its end: where lanes read from memory what other lanes have written,
/// sync() stands between.
struct DeviceWarp {
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(const F& f) const {
    f(device::lane());
  }

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void once(const F& f) const {
    if (device::lane() == 0) f();
  }

  KOKKOS_FORCEINLINE_FUNCTION void sync() const { device::sync(); }

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t ballot(const F& f) const {
    return device::ballot(f(device::lane()));
  }

  /// The pairs of HostWarp::sum(). Addition commutes, so that all lanes get the same bits.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Lanes<T>& x) const {
    T value = x.slot[0];
    GRADCOMP_UNROLL
    for (int half = warp_lanes / 2; half > 0; half /= 2) value = value + device::words_of_partner(value, half);
    return value;
  }

  /// That of lane 0, which takes its values in the order of HostWarp::max(): +0 and -0 are equal, but not the same.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T max(const Lanes<T>& x) const {
    T value = x.slot[0];
    GRADCOMP_UNROLL
    for (int half = warp_lanes / 2; half > 0; half /= 2) {
      const T other = device::of_partner(value, half);
      value = other > value ? other : value;
    }
    return device::of_lane(value, 0);
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T exclusive_sum(Lanes<T>& x) const {
    const int own = device::lane();
    T up_to_here = x.slot[0];
    GRADCOMP_UNROLL
    for (int distance = 1; distance < warp_lanes; distance *= 2) {
      const T other = device::of_lane(up_to_here, own < distance ? own : own - distance);
      if (own >= distance) up_to_here += other;
    }
    x.slot[0] = up_to_here - x.slot[0];
    return device::of_lane(up_to_here, warp_lanes - 1);
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T broadcast(const Lanes<T>& x, int lane) const {
    return device::of_lane(x.slot[0], lane);
  }

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_set(std::uint32_t mask, const F& f) const {
    const int l = device::lane();
    if (((mask >> l) & 1u) != 0) f(l, Kokkos::popcount(mask & ((1u << l) - 1u)));
  }

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_set_padded(std::uint32_t mask, const F& f) const {
    for_set(mask, f);
  }
};

using Warp = std::conditional_t<lanes_are_threads, DeviceWarp, HostWarp>;

namespace detail {
#ifdef GRADCOMP_LANES
template <class F>
static void for_warps(std::true_type, const std::string& label, const Exec& exec, index_t count, const F& f) {
  const int warps = count < 8 ? static_cast<int>(count) : 8;
  fibres::launch(label, exec, (count + warps - 1) / warps, warps * warp_lanes, 0, [&](const fibres::Team& team) {
    const index_t i = index_t{team.league_rank()} * warps + team.team_rank() / warp_lanes;
    if (i < count) f(DeviceWarp{}, i);
  });
}
#else
using WarpPolicy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256, 2> >;

// Two overloads instead of `if constexpr`, inside which nvcc refuses extended lambdas with captures.
template <class F>
static void for_warps(std::true_type, const std::string& label, const Exec& exec, index_t count, const F& f) {
  constexpr int warps_per_team = 8;
  const auto teams = static_cast<int>((count + warps_per_team - 1) / warps_per_team);
  Kokkos::parallel_for(
      label, WarpPolicy(exec, teams, warps_per_team, warp_lanes), KOKKOS_LAMBDA(const WarpPolicy::member_type& team) {
        const index_t i = static_cast<index_t>(team.league_rank()) * warps_per_team + team.team_rank();
        if (i < count) f(DeviceWarp{}, i);
      });
}

template <class F>
static void for_warps(std::false_type, const std::string& label, const Exec& exec, index_t count, const F& f) {
  Kokkos::parallel_for(label, IndexRange(exec, 0, count), KOKKOS_LAMBDA(index_t i) { f(HostWarp{}, i); });
}
#endif
}  // namespace detail

/// f(l, e) for every element e of [0, count), on lane l = e mod 32, in order. One loop over the lanes handles `rows`
/// rows at a time, so that sums per lane stay in registers.
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

/// use(r, load(r)) for the rows r < `rows` of a lane. A device loads all rows before it uses the first: compilers leave
/// a load behind a store that may overlap it, so a device would wait for memory in every row. A host has its values in
/// a cache, and too few registers.
template <int rows, class Load, class Use>
KOKKOS_FORCEINLINE_FUNCTION void load_then_use(const Load& load, const Use& use) {
  if constexpr (lanes_are_threads) {
    decltype(load(0)) x[rows];
    GRADCOMP_UNROLL
    for (int r = 0; r < rows; ++r) x[r] = load(r);
    GRADCOMP_UNROLL
    for (int r = 0; r < rows; ++r) use(r, x[r]);
  } else {
    GRADCOMP_UNROLL
    for (int r = 0; r < rows; ++r) use(r, load(r));
  }
}

/// store(l, e, load(e)) for every element e of [0, count), on lane l = e mod 32, in order.
template <int rows = 8, class Load, class Store>
KOKKOS_FORCEINLINE_FUNCTION void each_element(const Warp& warp, index_t count, const Load& load, const Store& store) {
  using Value = decltype(load(index_t{}));
  index_t e = 0;
  for (; e + rows * warp_lanes <= count; e += rows * warp_lanes) {
    warp.each([&](int l) {
      load_then_use<rows>([&](int r) { return load(e + r * warp_lanes + l); },
                          [&](int r, const Value& x) { store(l, e + r * warp_lanes + l, x); });
    });
  }
  for (; e + warp_lanes <= count; e += warp_lanes) warp.each([&](int l) { store(l, e + l, load(e + l)); });
  if (e < count) {
    warp.each([&](int l) {
      if (e + l < count) store(l, e + l, load(e + l));
    });
  }
}

/// use(load(i)) for i = begin + l, begin + l + stride, ... below `end`, in order: the part of lane l of a sum over all
/// i.
template <int rows = 4, class Load, class Use>
KOKKOS_FORCEINLINE_FUNCTION void each_of_lane(int l, index_t begin, index_t end, const Load& load, const Use& use,
                                              index_t stride = warp_lanes) {
  using Value = decltype(load(index_t{}));
  index_t i = begin + l;
  for (; lanes_are_threads && i + (rows - 1) * stride < end; i += rows * stride)
    load_then_use<rows>([&](int r) { return load(i + r * stride); }, [&](int, const Value& x) { use(x); });
  for (; i < end; i += stride) use(load(i));
}

/// Runs f(warp, i) for i in [0, count), each i on one warp. f is a KOKKOS_LAMBDA(const Warp&, index_t).
template <class F>
static void for_warps(const std::string& label, const Exec& exec, index_t count, const F& f) {
  if (count > 0) detail::for_warps(std::bool_constant<lanes_are_threads>{}, label, exec, count, f);
}

namespace detail {
template <class Load, class Store>
static void for_elements(std::true_type, const std::string& label, const Exec& exec, index_t count, const Load& load,
                         const Store& store) {
  constexpr index_t unit = 8 * warp_lanes;
  for_warps(
      std::true_type{}, label, exec, (count + unit - 1) / unit, KOKKOS_LAMBDA(const Warp& warp, index_t u) {
        const index_t begin = u * unit, left = count - begin;
        each_element(
            warp, left < unit ? left : unit, [&](index_t e) { return load(begin + e); },
            [&](int, index_t e, const decltype(load(index_t{}))& x) { store(begin + e, x); });
      });
}

template <class Load, class Store>
static void for_elements(std::false_type, const std::string& label, const Exec& exec, index_t count, const Load& load,
                         const Store& store) {
  Kokkos::parallel_for(label, IndexRange(exec, 0, count), KOKKOS_LAMBDA(index_t i) { store(i, load(i)); });
}
}  // namespace detail

/// store(i, load(i)) for i in [0, count), for loops over all elements: a thread of a device handles eight of them, and
/// loads before it stores. load is a KOKKOS_LAMBDA(index_t), store a KOKKOS_LAMBDA(index_t, const T&).
template <class Load, class Store>
static void for_elements(const std::string& label, const Exec& exec, index_t count, const Load& load,
                         const Store& store) {
  if (count > 0) detail::for_elements(std::bool_constant<lanes_are_threads>{}, label, exec, count, load, store);
}

/// Runs f(i) for i in [0, count), where `count` is small: on one thread each, or in a plain loop if the host reads the
/// results at once (Context::host_looks), since a launch would take longer.
template <class F>
static void for_few(const char* label, const Exec& exec, index_t count, bool host_looks, const F& f) {
  if constexpr (device_is_host) {
    if (host_looks) {
      for (index_t i = 0; i < count; ++i) f(i);
      return;
    }
  }
  Kokkos::parallel_for(label, IndexRange(exec, 0, count), f);
}

/// Runs f(warp, 0); if the host reads the results at once, on the calling thread.
template <class F, class W = Warp>  // W is a dependent name, because a DeviceWarp cannot be made here
static void for_one_warp(const char* label, const Exec& exec, bool host_looks, const F& f) {
  if constexpr (!lanes_are_threads) {
    if (host_looks) return f(W{}, index_t{0});
  }
  for_warps(label, exec, 1, f);
}

}  // namespace gradcomp::kernels

#pragma once
// A pass over all tiles, and what each segment needs behind it (its sums, its places), in one launch on devices: the
// team that ends last in a segment goes on with it. A host, where a launch costs little, launches twice.
#include "gradcomp/kernels/lanes/teams.hpp"
#include "gradcomp/kernels/lanes/tiles.hpp"

/// Put it in front of a loop behind a pass: unrolled, its values would take registers from all threads of the pass.
#if defined(__CUDACC__) || defined(__clang__)
#define GRADCOMP_NO_UNROLL _Pragma("unroll 1")
#else
#define GRADCOMP_NO_UNROLL
#endif

namespace gradcomp::kernels {

/// The threads that work on one segment: on a device a team of 8 warps; on a host one thread. All threads of a team
/// must come to every function but each() and once().
struct HostBlock {
  static constexpr int warps = 1, threads = 1;

  KOKKOS_FORCEINLINE_FUNCTION explicit HostBlock(const Team* of) : team(of) {}

  KOKKOS_FORCEINLINE_FUNCTION int thread() const { return 0; }

  /// f(i) for i in [0, count), on the threads in turn. It ends without a barrier.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(index_t count, const F& f) const {
    for (index_t i = 0; i < count; ++i) f(i);
  }
  /// f() once.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void once(const F& f) const {
    f();
  }
  /// What any thread has written before, every thread reads afterwards.
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const {}

  /// f(warp, w) on each warp.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each_warp(const F& f) const {
    f(HostWarp{}, 0);
  }

  /// f(warp, 0) + f(warp, 1) + ... over `parts` parts, 1 .. 8; all threads get it. T has at most 64 bytes.
  template <class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION T sum(int parts, const F& f) const {
    T total = f(HostWarp{}, 0);
    for (int w = 1; w < parts; ++w) total = total + f(HostWarp{}, w);
    return total;
  }

  /// Replaces `value` by the sum of those of the threads before, and returns the sum of all.
  KOKKOS_FORCEINLINE_FUNCTION index_t exclusive_sum(index_t& value) const {
    const index_t total = value;
    value = 0;
    return total;
  }

  const Team* team;  ///< for its scratch memory; null behind for_tiles_then()
};

struct DeviceBlock {
  static constexpr int warps = 8, threads = warps * warp_lanes;
  static constexpr int part_bytes = 64;  ///< of a T that is summed
  using Words = TeamArray<std::uint64_t[warps * part_bytes / 8]>;

  KOKKOS_FORCEINLINE_FUNCTION explicit DeviceBlock(const Team* of) : team(of), m_words(of->team_scratch(0)) {}

  KOKKOS_FORCEINLINE_FUNCTION int thread() const { return device::thread(); }

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(index_t count, const F& f) const {
    for (index_t i = thread(); i < count; i += threads) f(i);
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void once(const F& f) const {
    if (thread() == 0) f();
  }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { team->team_barrier(); }

  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each_warp(const F& f) const {
    f(DeviceWarp{}, warp());
  }

  template <class T, class F>
  KOKKOS_FORCEINLINE_FUNCTION T sum(int parts, const F& f) const {
    static_assert(sizeof(T) <= part_bytes);
    T* const part = reinterpret_cast<T*>(m_words.data());
    if (warp() < parts) {
      const T mine = f(DeviceWarp{}, warp());
      if (device::lane() == 0) part[warp()] = mine;
    }
    barrier();
    T total = part[0];
    GRADCOMP_NO_UNROLL
    for (int w = 1; w < parts; ++w) total = total + part[w];
    barrier();  // the parts may be written again
    return total;
  }

  KOKKOS_FORCEINLINE_FUNCTION index_t exclusive_sum(index_t& value) const {
    Lanes<index_t> mine{};
    mine.slot[0] = value;
    const index_t of_warp = DeviceWarp{}.exclusive_sum(mine);
    if (device::lane() == 0) m_words(warp()) = static_cast<std::uint64_t>(of_warp);
    barrier();
    index_t total = 0;
    GRADCOMP_UNROLL
    for (int w = 0; w < warps; ++w) {
      if (w == warp()) value = total + mine.slot[0];
      total += static_cast<index_t>(m_words(w));
    }
    barrier();
    return total;
  }

  /// Whether this is the last of `teams` teams that call it with this ticket, which is 0 before and after. What they
  /// wrote before, the last one reads.
  KOKKOS_FORCEINLINE_FUNCTION bool ends_last(std::uint32_t* ticket, index_t teams) const {
    barrier();
    once([&] {
      Kokkos::memory_fence();  // what the team wrote comes before its ticket
      m_words(0) = Kokkos::atomic_fetch_add(ticket, 1u);
    });
    barrier();
    const bool last = static_cast<index_t>(m_words(0)) + 1 == teams;
    barrier();
    if (last) {
      Kokkos::memory_fence();  // by every thread: its cache may hold what other teams have changed
      once([&] { *ticket = 0; });
    }
    return last;
  }

  const Team* team;

 private:
  static KOKKOS_FORCEINLINE_FUNCTION int warp() { return device::thread() / warp_lanes; }

  Words m_words;
};

using Block = std::conditional_t<lanes_are_threads, DeviceBlock, HostBlock>;

/// The sum of load(t) over t in [begin, end), in an order that does not depend on the device: lane l of part w of 8
/// adds t = begin + 32 w + l, that + 256, ...; Warp::sum() adds the lanes, and the parts follow in order. All threads
/// get it. T is as in Warp::sum(), and T{} is 0.
template <class T, class Load>
KOKKOS_FORCEINLINE_FUNCTION T sum_over(const Block& block, index_t begin, index_t end, const Load& load) {
  constexpr index_t parts = 8;
  const index_t rows = (end - begin + warp_lanes - 1) / warp_lanes;
  return block.template sum<T>(static_cast<int>(Kokkos::clamp(rows, index_t{1}, parts)), [&](const Warp& warp, int w) {
    Lanes<T> sum;
    warp.each([&](int l) {
      sum[l] = T{};
      GRADCOMP_NO_UNROLL
      for (index_t t = begin + w * warp_lanes + l; t < end; t += parts * warp_lanes) sum[l] = sum[l] + load(t);
    });
    return warp.sum(sum);
  });
}

namespace detail {

/// A pass over groups of tiles whose last team of each segment goes on with the segment. Where there are no tiles, team
/// s goes on with segment s.
template <class Each, class Last>
struct GroupsThen {
  TileGroups groups;
  const index_t* begin;
  bool any;  ///< tiles
  Each each;
  Last last;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const DeviceBlock block(&team);
    index_t s = team.league_rank();
    bool ended = true;
    if (any) {
      const TileGroup group = groups(s, begin);
      each(block, group);
      s = group.segment;
      const index_t teams = (begin[s + 1] - begin[s] + groups.tiles - 1) / groups.tiles;
      ended = block.ends_last(&groups.ticket(s), teams);
    }
    if (ended) last(block, s);
  }
};

/// The same pass on a host.
template <class Each>
struct OnGroups {
  TileGroups groups;
  const index_t* begin;
  Each each;

  KOKKOS_FUNCTION void operator()(const Team& team) const { each(Block(&team), groups(team.league_rank(), begin)); }
};

template <class Last>
struct OnSegments {
  Last last;

  KOKKOS_FUNCTION void operator()(const Team& team) const { last(Block(&team), index_t{team.league_rank()}); }
  KOKKOS_FUNCTION void operator()(const index_t s) const { last(Block(nullptr), s); }
};

/// each(warp, t) for the tiles of a group, which has no more than a team has warps.
template <class Each>
struct TilePerWarp {
  Each each;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Block& block, const TileGroup& group) const {
    block.each_warp([&](const Warp& warp, int w) {
      if (group.begin + w < group.end) each(warp, group.begin + w);
    });
  }
};

template <class F>
static void for_blocks(const std::string& label, const Exec& exec, index_t count, std::size_t scratch, const F& f) {
  if (count == 0) return;
  const std::size_t bytes = scratch + (lanes_are_threads ? DeviceBlock::Words::shmem_size() : 0);
#ifdef GRADCOMP_LANES
  fibres::launch(label, exec, count, DeviceBlock::threads, bytes, f);
#else
  constexpr int warps = lanes_are_threads ? DeviceBlock::warps : 1, lanes = lanes_are_threads ? warp_lanes : 1;
  WarpPolicy policy(exec, static_cast<int>(count), warps, lanes);
  Kokkos::parallel_for(label, policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes))), f);
#endif
}

}  // namespace detail

/// Runs last(block, s) for s in [0, segments).
template <class Last>
static void for_segments(const std::string& label, const Exec& exec, index_t segments, const Last& last) {
  if constexpr (lanes_are_threads) {
    detail::for_blocks(label, exec, segments, 0, detail::OnSegments<Last>{last});
  } else {
    Kokkos::parallel_for(label, IndexRange(exec, 0, segments), detail::OnSegments<Last>{last});
  }
}

/// Runs each(block, group) for all groups, which may use `scratch` bytes of block.team, and when all groups of a
/// segment s have ended, last(block, s). Both are KOKKOS_LAMBDAs. A device leaves segments without tiles out, unless
/// there are no tiles at all.
template <class Each, class Last>
static void for_groups_then(const std::string& label, const Exec& exec, const Tiles& tiles, const TileGroups& groups,
                            std::size_t scratch, const Each& each, const Last& last) {
  const index_t* const begin = tiles.begin.data();
  const index_t count = groups.count(tiles.count());
  if constexpr (lanes_are_threads) {
    detail::for_blocks(label, exec, count > 0 ? count : tiles.segments(), scratch,
                       detail::GroupsThen<Each, Last>{groups, begin, count > 0, each, last});
  } else {
    detail::for_blocks(label, exec, count, scratch, detail::OnGroups<Each>{groups, begin, each});
    for_segments("then " + label, exec, tiles.segments(), last);
  }
}

/// Runs each(warp, t) for all tiles, and when those of a segment s have ended, last(block, s), as for_groups_then().
template <class Each, class Last>
static void for_tiles_then(const std::string& label, const Exec& exec, const Tiles& tiles, const Each& each,
                           const Last& last) {
  if constexpr (lanes_are_threads) {
    for_groups_then(label, exec, tiles, tiles.groups, 0, detail::TilePerWarp<Each>{each}, last);
  } else {
    for_warps(label, exec, tiles.count(), each);
    for_segments("then " + label, exec, tiles.segments(), last);
  }
}

}  // namespace gradcomp::kernels

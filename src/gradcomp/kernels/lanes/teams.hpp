#pragma once
// Teams of threads that share scratch memory and wait for each other, for kernels whose unit of work is not a warp.
// A host usually has teams of one thread.
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::kernels {

#ifdef GRADCOMP_LANES
using Team = fibres::Team;
#else
using Team = Kokkos::TeamPolicy<Exec>::member_type;
#endif

/// An array in the scratch memory of a team, such as TeamArray<float*> or TeamArray<float[2][32]>.
template <class T>
using TeamArray =
    Kokkos::View<T, Kokkos::LayoutRight, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Runs f(team) on `teams` teams of `threads` threads, each with `scratch` bytes. f is a KOKKOS_LAMBDA(const Team&) or
/// a functor.
template <int threads, class F>
static void for_teams(const std::string& label, const Exec& exec, index_t teams, std::size_t scratch, const F& f) {
#ifdef GRADCOMP_LANES
  fibres::launch(label, exec, teams, threads, scratch, f);
#else
  Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>> policy(exec, static_cast<int>(teams), threads);
  Kokkos::parallel_for(label, policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch))), f);
#endif
}

/// Runs f(team, warp, w) on `teams` teams of `warps` warps, each team with `scratch` bytes, where lanes are threads; w
/// is the number of the warp in its team. f is a functor, or a KOKKOS_LAMBDA(const Team&, const Warp&, int).
template <int warps, class F>
static void for_teams_of_warps(const std::string& label, const Exec& exec, index_t teams, std::size_t scratch,
                               const F& f) {
#ifdef GRADCOMP_LANES
  fibres::launch(label, exec, teams, warps * warp_lanes, scratch,
                 [&](const Team& team) { f(team, Warp{}, team.team_rank() / warp_lanes); });
#else
#ifdef KOKKOS_ENABLE_CUDA  // 28 warps on a multiprocessor: some load while others wait. They leave a thread 72
                           // registers.
  using Bounds = Kokkos::LaunchBounds<warps * warp_lanes, 28 / warps>;
#else                      // for HIP the second number would mean something else
  using Bounds = Kokkos::LaunchBounds<warps * warp_lanes>;
#endif
  Kokkos::TeamPolicy<Exec, Bounds> policy(exec, static_cast<int>(teams), warps, warp_lanes);
  Kokkos::parallel_for(
      label, policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch))),
      KOKKOS_LAMBDA(const Team& team) { f(team, Warp{}, team.team_rank()); });
#endif
}

/// f(i) for i in [0, count), on the threads of the team in turn. It ends without a barrier.
template <class F>
KOKKOS_FORCEINLINE_FUNCTION void for_each_of_team(const Team& team, int count, const F& f) {
#ifdef GRADCOMP_LANES
  for (int i = team.team_rank(); i < count; i += team.team_size()) f(i);
#else
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), f);
#endif
}

}  // namespace gradcomp::kernels

#pragma once
// Sums over the images of a batch for devices, where one thread per channel would leave most of the device idle.
#include "gradcomp/kernels/lanes/teams.hpp"
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn::device {

/// One team per group of channels. Neighbouring threads take neighbouring channels, which lie next to each other in
/// memory, and the team works on threads / width images at a time. The order of the sums depends only on the shapes.
template <class Finish, int threads>
struct ChannelsTeam {
  static constexpr int width = threads < 32 ? 1 : 32;  ///< channels per team
  using Scratch = kernels::TeamArray<double[2][threads]>;

  Span<const double> sums;
  int images, channels;
  Finish finish;

  KOKKOS_INLINE_FUNCTION void operator()(const kernels::Team& team) const {
    const Scratch parts(team.team_scratch(0));
    const int thread = team.team_rank(), channel = team.league_rank() * width + thread % width;
    double first = 0, second = 0;
    for (int image = thread / width; channel < channels && image < images; image += threads / width) {
      first += sums(index_t(2) * image * channels + channel);
      second += sums((index_t(2) * image + 1) * channels + channel);
    }
    parts(0, thread) = first;
    parts(1, thread) = second;
    team.team_barrier();
    if (thread >= width || channel >= channels) return;
    for (int t = thread + width; t < threads; t += width) {
      first += parts(0, t);
      second += parts(1, t);
    }
    finish(channel, first, second);
  }
};

/// Calls finish(channel, first, second) with the sums over images of both kinds in sums[images][2][channels].
/// `threads`: size of a team, a power of 2.
template <int threads = kernels::lanes_are_threads ? 256 : 1, class Finish>
void for_channels(const char* label, const Exec& exec, const Span<const double>& sums, int images, int channels,
                  const Finish& finish) {
  using Team = ChannelsTeam<Finish, threads>;
  kernels::for_teams<threads>(label, exec, (channels + Team::width - 1) / Team::width, Team::Scratch::shmem_size(),
                              Team{sums, images, channels, finish});
}

}  // namespace gradcomp::nn::device

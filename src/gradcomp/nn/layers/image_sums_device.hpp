#pragma once
// The sums of image_sums.hpp for devices, where one thread per image and channel would leave most of the device idle.
#include "gradcomp/kernels/lanes/teams.hpp"
#include "gradcomp/nn/maps.hpp"

namespace gradcomp::nn::device {

/// The sums of one image by one team. Neighbouring threads take neighbouring channels, which lie next to each other in
/// memory, and the team works on several pixels at a time if it has more threads than there are channels.
template <class T, int threads>
struct ImageSumsTeam {
  using Scratch = kernels::TeamArray<double[2][threads]>;

  Maps<const T> a, b;
  Span<const T> mean;
  Span<double> sums;

  KOKKOS_INLINE_FUNCTION void operator()(const kernels::Team& team) const {
    const Scratch parts(team.team_scratch(0));
    const int image = team.league_rank(), thread = team.team_rank(), channels = a.channels;
    const int width = channels < threads ? channels : threads, together = threads / width;
    for (int first = 0; first < channels; first += width) {
      const int channel = first + thread % width;
      const bool works = thread / width < together && channel < channels;
      const double centre = works && mean.extent(0) > 0 ? double(mean(channel)) : 0.0;
      double sum = 0, product = 0;
      for (int pixel = thread / width; works && pixel < a.height * a.width; pixel += together) {
        const int row = pixel / a.width, column = pixel % a.width;
        const T value = a.at(image, row, column)[channel];
        sum += value;
        product += value * (b.at(image, row, column)[channel] - centre);
      }
      parts(0, thread) = sum;
      parts(1, thread) = product;
      team.team_barrier();
      if (thread < width && channel < channels) {
        for (int t = thread + width; t < together * width; t += width) {
          sum += parts(0, t);
          product += parts(1, t);
        }
        sums(index_t(2) * image * channels + channel) = sum;
        sums((index_t(2) * image + 1) * channels + channel) = product;
      }
      team.team_barrier();
    }
  }
};

/// Does what nn::image_sums() does. `threads`: size of a team, a power of 2.
template <class T, int threads = kernels::lanes_are_threads ? 512 : 1>
void image_sums(const Exec& exec, const Maps<const T>& a, const Maps<const T>& b, const Span<const T>& mean,
                const Span<double>& sums) {
  using Team = ImageSumsTeam<T, threads>;
  if (a.images == 0) return;
  kernels::for_teams<threads>("gradcomp::nn::image_sums", exec, a.images, Team::Scratch::shmem_size(),
                              Team{a, b, mean, sums});
}

}  // namespace gradcomp::nn::device

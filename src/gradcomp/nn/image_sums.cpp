#include "gradcomp/nn/image_sums.hpp"

#include "gradcomp/kernels/lanes.hpp"
#include "gradcomp/nn/image_sums_host.hpp"

namespace gradcomp::nn {
namespace {

/// The sums of one image by a team: neighbouring threads take neighbouring channels, as they lie in memory, and as many
/// pixels at a time as the team has room for.
template <class T>
struct ImageSumsTeam {
  static constexpr int threads = kernels::lanes_are_threads ? 512 : 1;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<double[2][threads], Kokkos::LayoutRight, Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Maps<const T> a, b;
  Span<const T> mean;
  Span<double> sums;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
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

template <class T>
void image_sums_by_teams(const Exec& exec, const ImageSumsTeam<T>& work) {
  using Team = ImageSumsTeam<T>;
  if (work.a.images == 0) return;
  typename Team::Policy policy(exec, work.a.images, Team::threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(Team::Scratch::shmem_size()));
  Kokkos::parallel_for("gradcomp::nn::image_sums", policy, work);
}

}  // namespace

template <class T>
void image_sums(const Exec& exec, const Maps<const T>& a, const Maps<const T>& b, const Span<const T>& mean,
                const Span<double>& sums, Path path) {
  if constexpr (device_is_host) {
    if (path == Path::best) return host::image_sums<T>(exec, a, b, mean.data(), sums.data());
  }
  if (taken(path) == Path::device) return image_sums_by_teams<T>(exec, {a, b, mean, sums});
  const int channels = a.channels;
  const bool centred = mean.extent(0) > 0;
  Kokkos::parallel_for(
      "gradcomp::nn::image_sums",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<index_t>>(exec, 0, index_t(a.images) * channels),
      KOKKOS_LAMBDA(const index_t i) {
        const int image = static_cast<int>(i / channels), channel = static_cast<int>(i % channels);
        const double centre = centred ? double(mean(channel)) : 0.0;
        double sum = 0, product = 0;
        for (int row = 0; row < a.height; ++row) {
          const T* left = a.at(image, row, 0) + channel;
          const T* right = b.at(image, row, 0) + channel;
          for (index_t p = 0; p < index_t(a.width) * channels; p += channels) {
            sum += left[p];
            product += left[p] * (right[p] - centre);
          }
        }
        sums(index_t(2) * image * channels + channel) = sum;
        sums(index_t(2 * image + 1) * channels + channel) = product;
      });
}

#define GRADCOMP_INSTANTIATE(T)                                                                              \
  template void image_sums<T>(const Exec&, const Maps<const T>&, const Maps<const T>&, const Span<const T>&, \
                              const Span<double>&, Path);
GRADCOMP_INSTANTIATE(float)
GRADCOMP_INSTANTIATE(double)
#undef GRADCOMP_INSTANTIATE

}  // namespace gradcomp::nn

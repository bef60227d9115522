// The Hadamard rotation of groups of elements, and its inverse.
#include <cmath>
#include <memory>

#include "gradcomp/kernels/random/threefry.hpp"
#include "gradcomp/kernels/sketch/hadamard.hpp"
#include "kernel.hpp"

namespace gradcomp::bench {
namespace {

constexpr index_t segment = 0, rotated_length = 4096;
constexpr std::int64_t step = 0;

/// The check follows the definition for every group: random signs, then the transform by butterflies of pairs, in
/// double.
Kernel rotate(const KernelInput& input) {
  const auto own = std::make_shared<const kernels::Rotation>(Layout::flat(input.count()), rotated_length);
  const auto work = [=] { own->rotate(input.exec, input.source(), input.seed, step, Mark()); };
  const auto check = [=] {
    const auto a = input.host(), work_array = to_host(input.exec, own->work());
    const auto stats = to_host(input.exec, own->stats());
    const auto groups = to_host(input.exec, own->groups());
    const Array4 key = stream_key(input.seed, segment, step, every_rank);
    for (std::size_t b = 0; b < groups.size(); ++b) {
      std::vector<double> y(static_cast<std::size_t>(groups[b].padded));
      double norm = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(groups[b].count); ++i) {
        const auto element = groups[b].element + static_cast<index_t>(i);
        const Array4 bits = threefry4x32_12(key, stream_counter(element / 128 * 128, random_stream::rotation, 0));
        const std::uint32_t words[] = {bits.x0, bits.x1, bits.x2, bits.x3};
        const double value = a[static_cast<std::size_t>(element)];
        y[i] = (words[i / 32 % 4] >> (i % 32) & 1u) != 0 ? -value : value;
        norm += value * value;
      }
      for (std::size_t half = 1; half < y.size(); half *= 2) {
        for (std::size_t i = 0; i < y.size(); ++i) {
          if ((i & half) != 0) continue;
          const double low = y[i], high = y[i + half];
          y[i] = low + high;
          y[i + half] = low - high;
        }
      }
      const double scale = 1 / std::sqrt(static_cast<double>(y.size()));
      for (std::size_t i = 0; i < y.size(); ++i) {
        const auto at = groups[b].work + static_cast<index_t>(i);
        require_close("rotated element", at, work_array[static_cast<std::size_t>(at)] * stats[b].unit, y[i] * scale,
                      1e-5 * std::sqrt(norm) + 1e-40);
      }
    }
  };
  return {2, work, check, {}};
}

/// The check: rotating back gives a again, padded and multiplied by P, in units of the work array.
Kernel rotate_back(const KernelInput& input) {
  const auto own = std::make_shared<const kernels::Rotation>(Layout::flat(input.count()), rotated_length);
  const auto before = [=] { own->rotate(input.exec, input.source(), input.seed, step, Mark()); };
  const auto work = [=] { own->rotate_back(input.exec, input.seed, step); };
  const auto check = [=] {
    const auto a = input.host(), back = to_host(input.exec, own->work());
    const auto stats = to_host(input.exec, own->stats());
    const auto groups = to_host(input.exec, own->groups());
    for (std::size_t b = 0; b < groups.size(); ++b) {
      const double unit = stats[b].unit / std::sqrt(static_cast<double>(groups[b].padded));
      for (index_t i = 0; i < groups[b].count; ++i)
        require_close("element", groups[b].first + i, back[static_cast<std::size_t>(groups[b].work + i)] * unit,
                      a[static_cast<std::size_t>(groups[b].first + i)], 1e-5 * static_cast<double>(stats[b].largest));
    }
  };
  return {2, work, check, before};
}

}  // namespace

std::vector<NamedKernel> rotation_kernels() { return {{"rotate", 24, rotate}, {"rotate_back", 24, rotate_back}}; }

}  // namespace gradcomp::bench

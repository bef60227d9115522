#include "gradcomp/measure/read_limit.hpp"

#include <algorithm>

#include "gradcomp/core/error.hpp"
#include "gradcomp/measure/stopwatch.hpp"

namespace gradcomp {
namespace {

constexpr index_t tile = 32768;  ///< floats of one partial sum
constexpr int lanes = 32;        ///< gcc does not vectorise fewer lanes, which then take 4.5 times as long
/// Parts of a tile that are read at the same time. A core that follows one stream alone reads 25 % less in a second,
/// because the hardware fetches ahead within a page of each stream.
constexpr int streams = 4;

/// Sum of `count` floats at `data`, lane by lane.
KOKKOS_INLINE_FUNCTION double tile_sum(const float* data, index_t count) {
  float sums[streams][lanes] = {};
  const index_t length = count / (streams * lanes) * lanes;
  for (index_t i = 0; i < length; i += lanes) {
    for (int s = 0; s < streams; ++s) {
      for (int l = 0; l < lanes; ++l) sums[s][l] += data[s * length + i + l];
    }
  }
  double total = 0;
  for (index_t i = streams * length; i < count; ++i) total += static_cast<double>(data[i]);
  for (int s = 0; s < streams; ++s) {
    for (int l = 0; l < lanes; ++l) total += static_cast<double>(sums[s][l]);
  }
  return total;
}

/// One pass over `data`. Returns the sum.
double read_once(const Exec& exec, const Span<const float>& data, const Vector<double>& partials) {
  const auto count = static_cast<index_t>(data.extent(0));
  double sum = 0;
  if (device_is_host) {  // not `if constexpr`, inside which nvcc refuses device lambdas
    // A parallel_reduce over elements is 6 to 12 times slower, because gcc does not vectorise sums in a reference.
    const index_t tiles = (count + tile - 1) / tile;
    Kokkos::parallel_for(
        "gradcomp::measure::read", IndexRange(exec, 0, tiles), KOKKOS_LAMBDA(const index_t t) {
          const index_t first = t * tile;
          const index_t rest = count - first;
          partials(t) = tile_sum(data.data() + first, rest < tile ? rest : tile);
        });
    exec.fence("gradcomp::measure::read");
    for (index_t t = 0; t < tiles; ++t) sum += partials.data()[t];
  } else {
    Kokkos::parallel_reduce(
        "gradcomp::measure::read", IndexRange(exec, 0, count),
        KOKKOS_LAMBDA(const index_t i, double& total) { total += static_cast<double>(data(i)); }, sum);
  }
  return sum;
}

// These are free functions, because nvcc refuses device lambdas inside other lambdas.
void copy_once(const Exec& exec, const Span<const float>& from, const Span<float>& to) {
  Kokkos::parallel_for(
      "gradcomp::measure::copy", IndexRange(exec, 0, from.extent(0)),
      KOKKOS_LAMBDA(const std::size_t i) { to(i) = from(i); });
}

void triad_once(const Exec& exec, const Span<float>& a, const Span<const float>& b, const Span<const float>& c,
                float scale) {
  Kokkos::parallel_for(
      "gradcomp::measure::triad", IndexRange(exec, 0, a.extent(0)),
      KOKKOS_LAMBDA(const std::size_t i) { a(i) = b(i) + scale * c(i); });
}

/// The median time of `repetitions` calls of `work`, after one untimed call.
template <class Work>
double median_seconds(const Exec& exec, int repetitions, const Work& work) {
  require(repetitions >= 1, "{} repetitions are not allowed; allowed: at least 1", repetitions);
  Samples samples;
  Stopwatch watch(exec);
  work();
  for (int r = 0; r < repetitions; ++r) {
    watch.start();
    work();
    samples.add(watch.stop());
  }
  return samples.median();
}

}  // namespace

ReadProbe::ReadProbe(index_t capacity)
    : m_partials("gradcomp::measure::ReadProbe", static_cast<std::size_t>((capacity + tile - 1) / tile)) {}

double ReadProbe::seconds(const Exec& exec, const Span<const float>& data) {
  require(data.extent(0) <= m_partials.extent(0) * static_cast<std::size_t>(tile),
          "a read probe for at most {} floats cannot read {}", m_partials.extent(0) * tile, data.extent(0));
  Stopwatch watch(exec);
  watch.start();
  m_sum = read_once(exec, data, m_partials);
  return watch.stop();
}

double read_limit_seconds(const Exec& exec, const Span<const float>& data, int repetitions) {
  require(repetitions >= 1, "{} repetitions are not allowed; allowed: at least 1", repetitions);
  ReadProbe probe(static_cast<index_t>(data.extent(0)));
  Samples samples;
  probe.seconds(exec, data);
  for (int r = 0; r < repetitions; ++r) samples.add(probe.seconds(exec, data));
  return samples.median();
}

double copy_limit_seconds(const Exec& exec, const Span<const float>& from, const Span<float>& to, int repetitions) {
  require(from.extent(0) == to.extent(0), "copy of {} floats to {}; allowed: equal numbers", from.extent(0),
          to.extent(0));
  return median_seconds(exec, repetitions, [&] { copy_once(exec, from, to); });
}

double triad_limit_seconds(const Exec& exec, const Span<float>& a, const Span<const float>& b,
                           const Span<const float>& c, float scale, int repetitions) {
  require(a.extent(0) == b.extent(0) && a.extent(0) == c.extent(0),
          "triad of {}, {} and {} floats; allowed: equal numbers", a.extent(0), b.extent(0), c.extent(0));
  return median_seconds(exec, repetitions, [&] { triad_once(exec, a, b, c, scale); });
}

}  // namespace gradcomp

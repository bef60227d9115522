#pragma once
// What the memory allows: one read of an array, a copy, a triad, as fast as this build can do them. The time of every
// kernel is compared with the time to read the same bytes once. Measure this time in turn with the kernel (ReadProbe),
// because the bandwidth changes between runs.
#include "gradcomp/core/types.hpp"
#include "gradcomp/measure/samples.hpp"

namespace gradcomp {

/// Reads arrays of up to `capacity` floats: 4 bytes and one addition per element.
class ReadProbe {
 public:
  explicit ReadProbe(index_t capacity);

  /// Seconds of one pass over `data` (fenced before and after). The sum of the elements is kept, so that no compiler
  /// can leave the pass out. Throws Error when `data` is longer than the capacity.
  double seconds(const Exec& exec, const Span<const float>& data);
  /// Of the last pass: floats per tile and lane, then double.
  double sum() const { return m_sum; }

 private:
  Vector<double> m_partials;  ///< one sum per tile
  double m_sum = 0;
};

/// Median seconds of one read over `repetitions` passes, after an untimed one.
double read_limit_seconds(const Exec& exec, const Span<const float>& data, int repetitions = 11);

/// The same for to[i] = from[i]: 8 bytes per element (12 where the cache fetches what it will overwrite).
double copy_limit_seconds(const Exec& exec, const Span<const float>& from, const Span<float>& to, int repetitions = 11);

/// The same for a[i] = b[i] + scale c[i], BabelStream's triad: 12 bytes (16) and 2 operations per element.
double triad_limit_seconds(const Exec& exec, const Span<float>& a, const Span<const float>& b,
                           const Span<const float>& c, float scale, int repetitions = 11);

}  // namespace gradcomp

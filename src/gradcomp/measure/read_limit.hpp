#pragma once
// The limits that memory sets: one read of an array, a copy and a triad, as fast as this build can do them. The time of
// every kernel is compared with the time to read the same bytes once. Measure both times in turn (ReadProbe), because
// the bandwidth changes between runs.
#include "gradcomp/core/types.hpp"
#include "gradcomp/measure/samples.hpp"

namespace gradcomp {

/// Reads arrays of up to `capacity` floats: 4 bytes and one addition per element.
class ReadProbe {
 public:
  explicit ReadProbe(index_t capacity);

  /// Seconds of one pass over `data` (with a fence before and after). The sum of the elements is kept, so that no
  /// compiler can remove the pass. Throws Error if `data` is longer than the capacity.
  double seconds(const Exec& exec, const Span<const float>& data);
  /// The sum of the last pass. On hosts it is formed in float inside a tile and lane, and in double over these.
  double sum() const { return m_sum; }

 private:
  Vector<double> m_partials;  ///< one sum per tile
  double m_sum = 0;
};

/// The median seconds of one read over `repetitions` passes, after one untimed pass. Throws Error if repetitions < 1.
double read_limit_seconds(const Exec& exec, const Span<const float>& data, int repetitions = 11);

/// The same for to[i] = from[i]: 8 bytes per element (12 if the cache reads the lines that it overwrites). Throws Error
/// also for unequal lengths.
double copy_limit_seconds(const Exec& exec, const Span<const float>& from, const Span<float>& to, int repetitions = 11);

/// The same for a[i] = b[i] + scale c[i], the triad of BabelStream: 12 bytes (or 16) and 2 operations per element.
double triad_limit_seconds(const Exec& exec, const Span<float>& a, const Span<const float>& b,
                           const Span<const float>& c, float scale, int repetitions = 11);

}  // namespace gradcomp

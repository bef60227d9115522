#pragma once
// What a user of NVIDIA's CUB would write instead of a sparsifier: select above a given threshold, and sort by
// magnitude. Only in CUDA builds. Elements are counted in int, as CUB's examples do: at most 2^31 - 1.
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::bench {

/// CUB's version, as 3.0.1: 300001.
int cub_version();

/// Indices and values of all |x| >= threshold, by cub::DeviceSelect::If and a gather of the values.
class CubThreshold {
 public:
  /// `capacity`: the most entries whose values are gathered.
  CubThreshold(const Exec& exec, const Span<const float>& gradient, float threshold, index_t capacity);
  void run();
  /// The indices that the last run kept, on the host.
  std::vector<int> kept() const;

 private:
  Exec m_exec;
  Span<const float> m_gradient;
  float m_threshold;
  Vector<int> m_indices, m_count;
  Vector<float> m_values;
  Vector<unsigned char> m_scratch;
};

/// Indices and values of the `count` largest |x|, by cub::DeviceRadixSort of all magnitudes with their indices.
class CubTopK {
 public:
  CubTopK(const Exec& exec, const Span<const float>& gradient, index_t count);
  void run();
  std::vector<int> kept() const;

 private:
  Exec m_exec;
  Span<const float> m_gradient;
  Vector<float> m_keys, m_sorted, m_values;
  Vector<int> m_indices, m_order;
  Vector<unsigned char> m_scratch;
};

}  // namespace gradcomp::bench

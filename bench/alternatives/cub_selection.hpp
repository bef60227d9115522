#pragma once
// What a user of CUB, NVIDIA's library of parallel primitives, would write instead of a sparsifier: a selection above a
// given threshold, and a sort by magnitude. Only in CUDA builds. Elements are counted with int, as in CUB's examples:
// there may be at most 2^31 - 1.
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp::bench {

/// The version of CUB as a number: 3.0.1 is 300001.
int cub_version();

/// Indices and values of all |x| >= threshold, by cub::DeviceSelect::If and a gather of the values.
class CubThreshold {
 public:
  /// `capacity`: the largest number of entries whose values are gathered.
  CubThreshold(const Exec& exec, const Span<const float>& gradient, float threshold, index_t capacity);
  void run();
  /// The indices that the last run kept, on the host. Throws Error if there are more than `capacity`.
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

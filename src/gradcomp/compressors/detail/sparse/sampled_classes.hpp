#pragma once
// Thresholds of classes from a sample, as GRACE finds them for dryden.
#include <vector>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/kernels/random/random_subset.hpp"
#include "gradcomp/kernels/select/top_k.hpp"

namespace gradcomp::compressors {

/// The sample of the classes of a bucket (detail/sparse/sign_classes.hpp). In every segment of n elements, ceil(n /
/// 100) places are drawn with replacement. The places that hold a member of a class are the sample of this class; a
/// class of m members has about m / 100.
class SampledClasses {
 public:
  /// `density`: largest density of any call of thresholds().
  SampledClasses(const Layout& layout, double density);

  /// Returns for each class the r-th largest magnitude of its sample, r = ceil(density m / 100), or the smallest one if
  /// the sample has fewer than r. If the sample is empty, returns the class's maximum. `magnitudes` ([2 n]) and
  /// `moments` ([classes]) belong to the classes. Waits for exec.
  const std::vector<float>& thresholds(const Exec& exec, const Span<const float>& magnitudes,
                                       const std::vector<kernels::Moments>& moments, double density,
                                       const Context& context);

  index_t bytes() const;

 private:
  Layout m_layout;   ///< of the bucket
  Layout m_draws;    ///< ceil(n / 100) elements for each segment
  Layout m_samples;  ///< the samples of the classes
  kernels::Tiles m_tiles;
  kernels::FirstPass m_first;
  kernels::Selector m_selector;
  std::vector<kernels::Selection> m_selections;
  std::vector<kernels::Subset> m_host_subsets;  ///< [segments] draws of this step
  Vector<kernels::Subset> m_subsets;
  Vector<float> m_values, m_chosen;
  Vector<std::uint32_t> m_indices;
  std::vector<float> m_host_chosen, m_thresholds;
};

}  // namespace gradcomp::compressors

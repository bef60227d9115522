#pragma once
// Thresholds of classes from a sample, as the authors of GRACE do for dryden.
#include <vector>

#include "gradcomp/core/compressor.hpp"
#include "gradcomp/kernels/random/random_subset.hpp"
#include "gradcomp/kernels/select/top_k.hpp"

namespace gradcomp::compressors {

/// Sample of the classes of a bucket (detail/sparse/sign_classes.hpp): of every segment of n elements ceil(n / 100)
/// places are drawn with replacement, and those that hold a member of a class are its sample, ceil(m / 100) of m
/// members on average.
class SampledClasses {
 public:
  /// `density`: the most that will be asked for.
  SampledClasses(const Layout& layout, double density);

  /// [classes] the r-th largest of each class's sample, r = ceil(density m / 100), or the smallest where it has fewer;
  /// the class's maximum where the sample is empty. `magnitudes` and `moments` are of the classes. Waits for exec.
  const std::vector<float>& thresholds(const Exec& exec, const Span<const float>& magnitudes,
                                       const std::vector<kernels::Moments>& moments, double density,
                                       const Context& context);

  index_t bytes() const;

 private:
  Layout m_layout;   ///< the bucket's
  Layout m_draws;    ///< ceil(n / 100) elements for each segment
  Layout m_samples;  ///< one sample for each class
  kernels::Tiles m_tiles;
  kernels::FirstPass m_first;
  kernels::Selector m_selector;
  std::vector<kernels::Selection> m_selections;
  std::vector<kernels::Subset> m_host_subsets;  ///< [segments] the draws of this step
  Vector<kernels::Subset> m_subsets;
  Vector<float> m_values, m_chosen;
  Vector<std::uint32_t> m_indices;
  std::vector<float> m_host_chosen, m_thresholds;
};

}  // namespace gradcomp::compressors

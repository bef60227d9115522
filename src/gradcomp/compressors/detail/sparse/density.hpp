#pragma once
// How many entries a sparsifier must send: the target density, its warm-up over the first steps, and counts.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/options.hpp"

namespace gradcomp::compressors {

/// Number of entries that a segment of n elements sends at target density `ratio`: max(1, floor(ratio n)), or 0 if it
/// is empty.
index_t target_kept(double ratio, index_t n);

/// Sum over segments of target_kept().
index_t target_kept(double ratio, const Layout& layout);

/// Returns the layout. Throws Error unless 32 bits can hold the bucket's indices.
const Layout& indexable(const Layout& layout);

/// The `ratio` parameter of sparsifiers.
Parameter ratio_parameter(const std::string& default_ratio = "0.01");

/// The parameters `warmup` and `warmup.steps`.
std::vector<Parameter> warmup_parameters(const std::string& default_kind = "none",
                                         const std::string& default_steps = "100");

/// The target density of every step. A warm-up has five stages s = 0 .. 4 of equal length:
///   quarters   4^-(s + 1), but not below ratio: 25 %, 6.25 %, 1.56 %, 0.4 %, 0.1 % (DGC; Lin et al., ICLR 2018,
///              section 3.3)
///   geometric  ratio^((s + 1) / 6), as in the DGC authors' repository: .316, .1, .0316, .01, .0032 for ratio .001
///   dense      1 (Aji & Heafield, EMNLP 2017, as in Marian)
class Density {
 public:
  /// For a method without a target: density 1 in every step, because it may send every entry.
  Density() = default;
  /// Reads ratio, warmup and warmup.steps.
  explicit Density(const ParameterValues& options);

  bool has_target() const { return m_has_target; }
  double ratio() const { return m_ratio; }
  /// The target density of a step.
  double at(std::int64_t step) const;
  /// The largest value of at(), for capacities.
  double max_density() const { return at(0); }

 private:
  bool m_has_target = false;
  double m_ratio = 1;
  std::string m_kind = "none";
  std::int64_t m_steps = 0;
};

}  // namespace gradcomp::compressors

#pragma once
// How many entries a sparsifier is asked for: the target density, its warm-up over the first steps, and counts.
#include <string>
#include <vector>

#include "gradcomp/core/layout.hpp"
#include "gradcomp/core/options.hpp"

namespace gradcomp::compressors {

/// Entries that a segment of n elements sends at target density `ratio`: max(1, floor(ratio n)), 0 when it is empty.
index_t target_kept(double ratio, index_t n);

/// Sum over segments of target_kept().
index_t target_kept(double ratio, const Layout& layout);

/// Throws Error unless the bucket's indices fit in 32 bits.
const Layout& indexable(const Layout& layout);

/// The `ratio` parameter of sparsifiers.
Parameter ratio_parameter(const std::string& default_ratio = "0.01");

/// `warmup` and `warmup.steps`.
std::vector<Parameter> warmup_parameters(const std::string& default_kind = "none",
                                         const std::string& default_steps = "100");

/// Target density of every step. Schedules of the warm-up, five stages of equal length s = 0 .. 4 each:
///   quarters   4^-(s + 1), not below ratio (DGC; Lin et al., ICLR 2018, section 3.3: 25 %, 6.25 %, 1.56 %, 0.4 %, 0.1
///   %) geometric  ratio^((s + 1) / 6) (what the DGC authors' repository does: .316, .1, .0316, .01, .0032 for .001)
///   dense      1 (Aji & Heafield, EMNLP 2017, as in Marian)
class Density {
 public:
  /// Of a method without a target: 1 in every step, whatever is worth sending.
  Density() = default;
  /// Reads ratio, warmup and warmup.steps; an absent one means none.
  explicit Density(const ParameterValues& options);

  bool has_target() const { return m_has_target; }
  double ratio() const { return m_ratio; }
  double at(std::int64_t step) const;
  /// The largest at(), for capacities.
  double max_density() const { return at(0); }

 private:
  bool m_has_target = false;
  double m_ratio = 1;
  std::string m_kind = "none";
  std::int64_t m_steps = 0;
};

}  // namespace gradcomp::compressors

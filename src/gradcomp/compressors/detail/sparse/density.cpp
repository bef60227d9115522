#include "gradcomp/compressors/detail/sparse/density.hpp"

#include <algorithm>
#include <cmath>

#include "gradcomp/core/error.hpp"

namespace gradcomp::compressors {

index_t target_kept(double ratio, index_t n) {
  return n == 0 ? 0 : std::max<index_t>(1, static_cast<index_t>(std::floor(ratio * static_cast<double>(n))));
}

index_t target_kept(double ratio, const Layout& layout) {
  index_t total = 0;
  for (const auto& segment : layout.segments) total += target_kept(ratio, segment.count);
  return total;
}

const Layout& indexable(const Layout& layout) {
  constexpr index_t max_elements = 0xffffffff;
  require(layout.count() <= max_elements, "a bucket has {} elements; sparse methods index at most {}", layout.count(),
          max_elements);
  return layout;
}

Parameter ratio_parameter(const std::string& default_ratio) {
  return Parameter::real("ratio", default_ratio, 0, 1, "target density: kept / n of each segment", true);
}

std::vector<Parameter> warmup_parameters(const std::string& default_kind, const std::string& default_steps) {
  return {
      Parameter::choice("warmup", default_kind, {"none", "quarters", "geometric", "dense"},
                        "densities of the first steps; quarters: 4^-1 .. 4^-5; geometric: ratio^(1/6 .. 5/6); dense: 1")
          .as_shared(),
      Parameter::integer("warmup.steps", default_steps, 1, 1000000000, "steps of the warm-up").as_shared()};
}

Density::Density(const ParameterValues& options)
    : m_has_target(true),
      m_ratio(options.real("ratio")),
      m_kind(options.text("warmup")),
      m_steps(options.integer("warmup.steps")) {}

double Density::at(std::int64_t step) const {
  if (m_kind == "none" || step >= m_steps) return m_ratio;
  if (m_kind == "dense") return 1;
  const auto stage = static_cast<double>(5 * std::max<std::int64_t>(step, 0) / m_steps);
  return m_kind == "quarters" ? std::max(m_ratio, std::pow(0.25, stage + 1)) : std::pow(m_ratio, (stage + 1) / 6);
}

}  // namespace gradcomp::compressors

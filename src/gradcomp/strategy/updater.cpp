#include "gradcomp/strategy/updater.hpp"

namespace gradcomp {

Updater::Updater(const Layout& layout, const std::vector<index_t>& parts, const UpdateOptions& options)
    : m_clip(options.clip), m_norm(parts), m_optimiser(nn::make_optimiser(layout, options.optimiser)) {}

void Updater::observe(const Exec& exec, index_t offset, const Span<const float>& mean) {
  if (m_clip > 0) m_norm.observe(exec, offset, mean);
}

void Updater::apply(const Exec& exec, double rate, const Span<float>& parameters, const Span<float>& mean) {
  if (m_clip > 0) m_norm.scale(exec, mean, m_clip);
  m_optimiser->begin(exec);
  m_optimiser->step(exec, rate, 0, parameters, Span<const float>(mean));
}

}  // namespace gradcomp

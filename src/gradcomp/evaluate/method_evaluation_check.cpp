// Checks whether an answer is right, and measures how far it is from what the compressor saw.
#include <algorithm>
#include <cmath>

#include "gradcomp/evaluate/method_evaluation.hpp"

namespace gradcomp::evaluate {

bool adds_up(std::span<const float> seen, std::span<const float> decoded, std::span<const float> rest, double slack) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double a = seen[i], d = decoded[i], r = rest[i];
    if (!(std::fabs(d + r - a) <= 1e-6 * (std::fabs(a) + std::fabs(d) + std::fabs(r)) + slack))
      return false;  // NaN too
  }
  return true;
}

/// Compares what was decoded with what the compressor saw.
void MethodEvaluation::compare() {
  const std::vector<float> out = decoded();
  double error = 0, norm = 0, product = 0, out_norm = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double a = m_seen[i], d = out[i];
    error += (a - d) * (a - d);
    norm += a * a;
    out_norm += d * d;
    product += a * d;
  }
  m_result.l2_error.push_back(norm > 0 ? std::sqrt(error / norm) : 0);
  m_result.cosine.push_back(product / std::sqrt(norm * out_norm));
}

/// Checks that `whole` is `decoded` + `rest`.
void MethodEvaluation::verify(const std::vector<float>& whole, const std::vector<float>& decoded,
                              const std::vector<float>& rest) {
  // Selections and quantisers lose a unit of the last place in a - decoded; products are summed in another order.
  const bool products = m_spec.compressor->info().family == Info::Family::low_rank;
  double norm = 0;
  for (const double v : whole) norm += v * v;
  const double slack = products ? 1e-4 * std::sqrt(norm / std::max<double>(1, static_cast<double>(whole.size()))) : 0;
  const bool good = adds_up(whole, decoded, rest, slack);
  m_result.verified = m_result.verified.value_or(true) && good;
}

/// Without a memory nothing says what was not sent. So a second run, with feedback and an empty memory, sends the same
/// (or a scaled copy of it) and keeps the rest.
void MethodEvaluation::check(const Exec& exec, const Span<const float>& gradient) {
  if (!m_checked) return;
  try {
    if (!m_check || !m_options.closed) m_check = std::make_unique<OneRankRun>(*m_checked, m_layout, m_options.seed);
    m_check->rank.forget(exec);
    m_check->step(exec, gradient, m_step, nullptr);
    const Source source = m_check->source(exec, gradient);
    if (source.gamma == 1) verify(m_seen, m_check->decoded(), copied(source.memory, gradient.size()));
    if (!m_options.closed) m_check.reset();  // as large as the gradient several times over
  } catch (const Error&) {
    m_checked.reset();  // the method refuses feedback with these options
  }
}

}  // namespace gradcomp::evaluate

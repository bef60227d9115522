#include "gradcomp/feedback/feedback.hpp"

namespace gradcomp {

std::vector<Parameter> feedback_parameters(const std::string& default_kind) {
  return {
      Parameter::choice("feedback", default_kind, {"none", "residual"}, "error feedback"),
      Parameter::real("feedback.beta", "1", 0, 1, "weight of the residual in a = beta r + gamma g"),
      Parameter::real("feedback.gamma", "1", 0, 1e6, "weight of the gradient in a = beta r + gamma g"),
  };
}

Feedback::Feedback(const Options& common, index_t count)
    : m_beta(static_cast<float>(common.real("feedback.beta"))),
      m_gamma(static_cast<float>(common.real("feedback.gamma"))),
      m_count(count) {
  if (common.text("feedback") == "residual") {
    m_kind = Source::Kind::residual;
    m_residual = Vector<float>("gradcomp::feedback::residual", static_cast<std::size_t>(count));
  }
}

Source Feedback::source(const Span<const float>& gradient) const {
  Source source;
  source.kind = m_kind;
  source.count = m_count;
  source.gradient = gradient.data();
  source.memory = m_residual.data();
  source.beta = m_beta;
  source.gamma = m_gamma;
  return source;
}

std::vector<StateView> Feedback::persistent() const {
  if (m_kind == Source::Kind::none) return {};
  return {{"residual", m_residual.data(), m_count * size_of(DType::f32), false}};
}

}  // namespace gradcomp

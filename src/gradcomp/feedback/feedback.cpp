#include "gradcomp/feedback/feedback.hpp"

#include <array>
#include <cmath>

#include "gradcomp/kernels/linear_algebra/norm_clip.hpp"

namespace gradcomp {
namespace {

struct Kind {
  const char* name;
  Source::Kind kind;
  Role memory;    ///< of Source::memory
  Role velocity;  ///< of Source::velocity
};
constexpr std::array<Kind, 4> kinds = {{
    {"none", Source::Kind::none, Role::residual, Role::velocity},  // it has no memories
    {"residual", Source::Kind::residual, Role::residual, Role::velocity},
    {"momentum_correction", Source::Kind::momentum_correction, Role::velocity_sum, Role::velocity},
    {"ef21", Source::Kind::ef21, Role::ef21_sent, Role::ef21_gradient_mean},
}};

const Kind& kind_of(const ParameterValues& common) {
  for (const Kind& k : kinds) {
    if (common.text("feedback") == k.name) return k;
  }
  throw Error("feedback '" + common.text("feedback") +
              "' is unknown; allowed: none, residual, momentum_correction, ef21");
}

}  // namespace

std::vector<Parameter> feedback_parameters(const Info& info) {
  return {
      Parameter::choice("feedback", info.feedback, info.feedbacks, "kind of error feedback"),
      Parameter::real("feedback.beta", "1", 0, 1, "residual: weight of the residual in a = beta r + gamma g"),
      Parameter::real("feedback.gamma", "1", 0, 1e6, "weight of the gradient, for every feedback except none"),
      Parameter::real("feedback.momentum", "0.9", 0, 0.9999,
                      "momentum_correction: momentum m in u = m u + g, in place of the optimiser's momentum"),
      Parameter::choice("feedback.nesterov", "off", {"off", "on"}, "momentum_correction: u = m (u + g), a = v + u + g"),
      Parameter::choice("feedback.masking", "on", {"on", "off"}, "momentum_correction: u = 0 where an entry was sent"),
      Parameter::real("feedback.clip", "0", 0, 1e30,
                      "largest L2 norm of each rank's bucket, multiplied by ranks^-1/2; 0: no clipping"),
      Parameter::real("feedback.eta", "1", 0, 1,
                      "ef21: weight of the new gradient in the running mean (EF21-SGDM); 1: no running mean", true),
      Parameter::choice("feedback.rate_aware", info.rate_inside ? "on" : "off", {"off", "on"},
                        "residual, momentum_correction: on: when the learning rate changes, the part that was not sent "
                        "is multiplied by old rate / new rate"),
  };
}

bool is_rate_aware(const ParameterValues& common) {
  const Source::Kind kind = kind_of(common).kind;
  return (kind == Source::Kind::residual || kind == Source::Kind::momentum_correction) &&
         common.text("feedback.rate_aware") == "on";
}

bool holds_momentum(const ParameterValues& common) { return common.text("feedback") == "momentum_correction"; }

Feedback::Feedback(const ParameterValues& common, index_t count)
    : m_clip(common.real("feedback.clip")), m_rate(is_rate_aware(common)) {
  m_rule.kind = kind_of(common).kind;
  m_rule.count = count;
  require(m_rule.kind != Source::Kind::none || m_clip == 0,
          "feedback.clip={} with feedback=none: clipping is a part of the feedback; allowed: feedback.clip=0", m_clip);
  m_rule.beta = static_cast<float>(common.real("feedback.beta"));
  m_rule.gamma = static_cast<float>(common.real("feedback.gamma"));
  const auto make = [&](Vector<float>& array) {
    array = Vector<float>("gradcomp::feedback::memory", static_cast<std::size_t>(count));
  };
  if (m_rule.kind != Source::Kind::none) make(m_memory);
  if (m_clip > 0) {
    make(m_clipped);
    m_norm = std::make_shared<kernels::NormClip>(count);
  }
  if (m_rule.kind == Source::Kind::momentum_correction) {
    m_rule.momentum = static_cast<float>(common.real("feedback.momentum"));
    m_rule.nesterov = common.text("feedback.nesterov") == "on";
    m_rule.masking = common.text("feedback.masking") == "on";
    make(m_velocity);
  }
  if (m_rule.kind == Source::Kind::ef21) {
    m_rule.momentum = 1 - static_cast<float>(common.real("feedback.eta"));
    if (m_rule.momentum > 0) make(m_velocity);
    make(m_work);
    make(m_estimate);
  }
}

Source Feedback::source(const Exec& exec, const Span<const float>& gradient, int ranks) const {
  Source source = m_rule;
  source.gradient = gradient.data();
  source.memory = m_memory.data();
  source.velocity = m_velocity.data();
  source.work = m_work.data();
  if (m_norm && gradient.size() > 0) {
    Kokkos::deep_copy(exec, m_clipped, gradient);
    m_norm->run(exec, m_clipped, m_clip / std::sqrt(static_cast<double>(ranks)));
    source.gradient = m_clipped.data();
  }
  return source;
}

void Feedback::follow_mean(const Exec& exec, const Span<float>& mean) const {
  if (m_rule.kind != Source::Kind::ef21) return;
  const auto estimate = m_estimate;
  Kokkos::parallel_for(
      "gradcomp::feedback::follow_mean", IndexRange(exec, 0, static_cast<index_t>(mean.size())),
      KOKKOS_LAMBDA(const index_t i) { mean(i) = estimate(i) += mean(i); });
}

Memories Feedback::memories() const {
  Memories views;
  for (const Kind& k : kinds) {
    if (k.kind != m_rule.kind) continue;
    if (m_memory.data() != nullptr) views.push_back(memory_of(k.memory, m_memory));
    if (m_velocity.data() != nullptr) views.push_back(memory_of(k.velocity, m_velocity));
  }
  if (m_estimate.data() != nullptr) views.push_back(memory_of(Role::ef21_estimate, m_estimate));
  if (m_rate.is_aware()) views.push_back(m_rate.memory(Role::residual_rate));
  return views;
}

}  // namespace gradcomp

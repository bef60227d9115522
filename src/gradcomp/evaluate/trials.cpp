#include "gradcomp/evaluate/trials.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "gradcomp/measure/samples.hpp"

namespace gradcomp::evaluate {
namespace {

/// One method, started anew for every trial.
class Fresh {
 public:
  Fresh(const MethodSpec& spec, const Layout& layout, std::uint64_t seed)
      : m_spec(spec), m_layout(layout), m_seed(seed) {}

  /// What a first step on `gradient` decodes, with the random numbers of step `number`.
  std::vector<float> decode(const Exec& exec, const Span<const float>& gradient, index_t number) {
    if (!m_run || m_run->rank.has_state()) m_run = std::make_unique<OneRankRun>(m_spec, m_layout, m_seed);
    m_run->rank.forget(exec);
    m_run->step(exec, gradient, number, nullptr);
    return m_run->decoded();
  }

 private:
  MethodSpec m_spec;
  Layout m_layout;
  std::uint64_t m_seed;
  std::unique_ptr<OneRankRun> m_run;
};

struct Products {
  double along = 0, apart = 0;  ///< <d, a> and ||a - d||^2
};
Products products(const std::vector<float>& a, const std::vector<float>& d) {
  Products sums;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = d[i];
    sums.along += x * y;
    sums.apart += (x - y) * (x - y);
  }
  return sums;
}

}  // namespace

double bias_z(const Trials& trials) {
  const Samples samples(trials.bias);
  const auto n = static_cast<double>(trials.bias.size());
  double squares = 0;
  for (const double b : trials.bias) squares += (b - samples.mean()) * (b - samples.mean());
  const double error = std::sqrt(squares / (n * (n - 1)));
  return error > 1e-12 ? samples.mean() / error : std::numeric_limits<double>::quiet_NaN();
}

void run_trials(const Exec& exec, const MethodSpec& method, const MethodSpec* fed_back, const Layout& layout,
                const Span<const float>& gradient, std::uint64_t seed, index_t count, Trials& trials) {
  const std::vector<float> a = copied(gradient.data(), gradient.size());
  const double norm = products(a, a).along;
  if (norm == 0) return;  // zeros have no direction
  Fresh plain(method, layout, seed);
  std::optional<Fresh> remembering;
  if (fed_back != nullptr) remembering.emplace(*fed_back, layout, seed);
  for (index_t t = 0; t < count; ++t) {
    const Products sums = products(a, plain.decode(exec, gradient, t));
    trials.bias.push_back(sums.along / norm - 1);
    const double apart = remembering ? products(a, remembering->decode(exec, gradient, t)).apart : sums.apart;
    trials.contraction.push_back(1 - apart / norm);
  }
}

}  // namespace gradcomp::evaluate

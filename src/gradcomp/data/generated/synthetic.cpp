#include "gradcomp/data/generated/synthetic.hpp"

#include <cmath>
#include <numbers>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/number.hpp"
#include "gradcomp/data/counter_rng.hpp"

namespace gradcomp::data {
namespace {

using Kind = Distribution::Kind;

constexpr const char* allowed =
    "laplace, gamma[:shape in (0, 100]], pareto[:xi in (-10, 10)], gauss, each with +zeros:SHARE in [0, 1)";

/// Cuts "name:number" at the colon. Without a colon, `value` does not change. Returns false if what follows the colon
/// is not a finite number.
bool cut(const std::string& text, std::string& name, double& value) {
  const auto colon = text.find(':');
  name = text.substr(0, colon);
  if (colon == std::string::npos) return true;
  const auto parsed = to_number<double>(text.substr(colon + 1));
  value = parsed.value_or(value);
  return parsed && std::isfinite(value);
}

/// Uniform in (0, 1) with 53 bits, so that the tails of 2^26 and more draws keep their shape.
double uniform(CounterRng& rng) { return (static_cast<double>(rng.next() >> 11) + 0.5) * 0x1p-53; }

double normal(CounterRng& rng) {
  const double radius = std::sqrt(-2 * std::log(uniform(rng)));
  return radius * std::cos(2 * std::numbers::pi * uniform(rng));
}

/// Gamma distribution with scale 1 (Marsaglia and Tsang, ACM TOMS 26, 2000). If the shape is below 1, draws with
/// shape + 1 and corrects the result.
double gamma(CounterRng& rng, double shape) {
  const double boost = shape < 1 ? std::pow(uniform(rng), 1 / shape) : 1;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(rng), t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    if (std::log(uniform(rng)) < 0.5 * x * x + d - d * v + d * std::log(v)) return boost * d * v;
  }
}

double pareto(CounterRng& rng, double xi) {
  const double excess = -std::log(uniform(rng));
  return std::fabs(xi) < 1e-12 ? excess : std::expm1(xi * excess) / xi;
}

double element(const Distribution& distribution, CounterRng& rng) {
  if (distribution.zeros > 0 && uniform(rng) < distribution.zeros) return 0;
  if (distribution.kind == Kind::gauss) return normal(rng);
  const double sign = (rng.next() & 1U) != 0 ? -1 : 1;
  if (distribution.kind == Kind::gamma) return sign * gamma(rng, distribution.parameter);
  if (distribution.kind == Kind::pareto) return sign * pareto(rng, distribution.parameter);
  return sign * -std::log(uniform(rng));
}

}  // namespace

Distribution Distribution::parse(const std::string& text) {
  Distribution result;
  result.name = text;
  const auto plus = text.find('+');
  std::string name, mixed = "zeros";
  result.parameter = text.starts_with("gamma") ? 0.5 : text.starts_with("pareto") ? 0.3 : 0;
  bool good = cut(text.substr(0, plus), name, result.parameter);
  const bool has_parameter = text.substr(0, plus).find(':') != std::string::npos;
  if (name == "laplace" || name == "gauss") {
    result.kind = name == "gauss" ? Kind::gauss : Kind::laplace;
    good = good && !has_parameter;
  } else if (name == "gamma") {
    result.kind = Kind::gamma;
    good = good && result.parameter > 0 && result.parameter <= 100;
  } else {
    result.kind = Kind::pareto;
    good = good && name == "pareto" && std::fabs(result.parameter) < 10;
  }
  if (plus != std::string::npos) good = cut(text.substr(plus + 1), mixed, result.zeros) && good;
  good = good && mixed == "zeros" && result.zeros >= 0 && result.zeros < 1;
  require(good, "unknown distribution '{}'; allowed: {}", text, allowed);
  return result;
}

void fill(const Distribution& distribution, std::uint64_t seed, std::uint64_t draw, std::span<float> values) {
  const HostExec exec;
  Kokkos::parallel_for("gradcomp::data::fill",
                       Kokkos::RangePolicy<HostExec>(exec, 0, static_cast<index_t>(values.size())), [&](index_t i) {
                         CounterRng rng(seed, draw, static_cast<std::uint64_t>(i));
                         values[static_cast<std::size_t>(i)] = static_cast<float>(element(distribution, rng));
                       });
  exec.fence("gradcomp::data::fill");
}

}  // namespace gradcomp::data

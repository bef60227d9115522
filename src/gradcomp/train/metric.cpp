#include "gradcomp/train/metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradcomp/report/table.hpp"

namespace gradcomp::train {

Metric::Metric(InputShape::Kind kind)
    : name(kind == InputShape::Kind::tokens ? "perplexity" : "accuracy"),
      higher_is_better(kind != InputShape::Kind::tokens) {}

double Metric::of(const nn::Loss& loss) const { return higher_is_better ? loss.accuracy() : std::exp(loss.mean()); }

bool Metric::reaches(double value, double bound) const { return higher_is_better ? value >= bound : value <= bound; }

double Metric::of(const Trivial& trivial) const { return higher_is_better ? trivial.accuracy : std::exp(trivial.loss); }

double Metric::lack(double value, double reference) const {
  return higher_is_better ? reference - value : std::log(value / reference);
}

double Metric::limit(double tolerance) const { return higher_is_better ? tolerance : std::log1p(tolerance); }

double Metric::enough(const Trivial& trivial, double tolerance) const {
  double margin = std::max(0.05, 5 * limit(tolerance));
  if (higher_is_better && trivial.count > 0) {
    const double p = trivial.accuracy;
    margin = std::max(margin, 3 * std::sqrt(p * (1 - p) / static_cast<double>(trivial.count)));
  }
  return higher_is_better ? of(trivial) + margin : of(trivial) * std::exp(-margin);
}

std::string Metric::text(double value) const {
  return higher_is_better ? report::format_percent(value) : report::format_number(value);
}

std::string Metric::lack_text(double lack) const {
  if (std::isnan(lack)) return "-";
  return higher_is_better ? fmt::format("{:.1f} points", 100 * lack) : fmt::format("{:.1f} %", 100 * std::expm1(lack));
}

}  // namespace gradcomp::train

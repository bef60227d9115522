#include "gradcomp/train/metric.hpp"

#include <fmt/format.h>

#include <cmath>

#include "gradcomp/report/table.hpp"

namespace gradcomp::train {

Metric::Metric(InputShape::Kind kind)
    : name(kind == InputShape::Kind::tokens ? "perplexity" : "accuracy"),
      higher_is_better(kind != InputShape::Kind::tokens) {}

double Metric::of(const nn::Loss& loss) const { return higher_is_better ? loss.accuracy() : std::exp(loss.mean()); }

bool Metric::reaches(double value, double bound) const { return higher_is_better ? value >= bound : value <= bound; }

double Metric::bound(double reference, double tolerance) const {
  return higher_is_better ? reference - tolerance : reference * (1 + tolerance);
}

std::string Metric::rule(double tolerance) const {
  return higher_is_better ? fmt::format("the {} is at least fp32's - {:.3g}", name, tolerance)
                          : fmt::format("the {} is at most fp32's x {:.3g}", name, 1 + tolerance);
}

std::string Metric::text(double value) const {
  return higher_is_better ? report::format_percent(value) : report::format_number(value);
}

}  // namespace gradcomp::train

#include "gradcomp/train/target.hpp"

#include <cmath>

#include "gradcomp/core/error.hpp"
#include "gradcomp/core/number.hpp"

namespace gradcomp::train {

std::optional<double> target_value(const std::string& text, const Metric& metric) {
  if (text.empty()) return {};
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals);
  require(equals != std::string::npos && (name == "accuracy" || name == "perplexity"),
          "--target {} is not allowed; allowed: accuracy=X or perplexity=X, such as accuracy=0.90", text);
  require(name == metric.name, "--target {} is not allowed: the quality of this task is measured as {}", text,
          metric.name);
  const double value = to_number<double>(text.substr(equals + 1)).value_or(std::nan(""));
  const bool in_range = metric.higher_is_better ? value > 0 && value <= 1 : value >= 1 && std::isfinite(value);
  require(in_range, "--target {} is not allowed; allowed: {}", text,
          metric.higher_is_better ? "an accuracy in (0, 1]" : "a perplexity of 1 or more");
  return value;
}

}  // namespace gradcomp::train

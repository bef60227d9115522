#include "gradcomp/train/target.hpp"

#include <charconv>
#include <cmath>

#include "gradcomp/core/error.hpp"

namespace gradcomp::train {

std::optional<double> target_value(const std::string& text, const Metric& metric) {
  if (text.empty()) return {};
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals);
  require(equals != std::string::npos && (name == "accuracy" || name == "perplexity"),
          "--target {} is not allowed; allowed: accuracy=X or perplexity=X, such as accuracy=0.90", text);
  require(name == metric.name, "--target {} is not allowed: the quality of this task is measured as {}", text,
          metric.name);
  double value = std::nan("");
  const char *first = text.data() + equals + 1, *last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  const bool in_range = metric.higher_is_better ? value > 0 && value <= 1 : value >= 1 && std::isfinite(value);
  require(error == std::errc() && end == last && in_range, "--target {} is not allowed; allowed: {}", text,
          metric.higher_is_better ? "an accuracy in (0, 1]" : "a perplexity of 1 or more");
  return value;
}

}  // namespace gradcomp::train

#include "gradcomp/train/mean_interval.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "gradcomp/report/table.hpp"

namespace gradcomp::train {

MeanInterval::MeanInterval(const std::vector<double>& samples) : mean(std::numeric_limits<double>::quiet_NaN()) {
  if (samples.empty()) return;
  const double n = static_cast<double>(samples.size());
  double sum = 0, squares = 0;
  for (const double x : samples) sum += x;
  mean = sum / n;
  if (samples.size() < 2) return;
  for (const double x : samples) squares += (x - mean) * (x - mean);
  const boost::math::students_t distribution(n - 1);
  half_width = boost::math::quantile(distribution, 0.975) * std::sqrt(squares / (n - 1) / n);
}

std::string MeanInterval::text() const {
  const std::string value = report::format_number(mean, 4);
  return half_width ? value + " +- " + report::format_number(*half_width, 2) : value;
}

}  // namespace gradcomp::train

#include "gradcomp/compressors/detail/low_rank/spectrum.hpp"

#include <algorithm>

namespace gradcomp::compressors {

MatrixShape spectral_shape(const Segment& segment) {
  const auto& shape = segment.shape;
  const index_t n = segment.count;
  if (n == 0 || shape.empty()) return {};
  if (shape.size() == 1) return n % 2 == 0 ? MatrixShape{n / 2, 2} : MatrixShape{};
  const index_t inputs = shape[shape.size() - 2], outputs = shape.back(), places = n / (inputs * outputs);
  if (places == 1) return {inputs, outputs};
  if (inputs * outputs % 2 == 0) return {2 * places, inputs * outputs / 2};
  return {places, inputs * outputs};
}

void water_filling(const std::vector<double>& values, index_t budget, std::vector<double>& probabilities) {
  const std::size_t n = values.size();
  probabilities.assign(n, 0);
  double rest = 0;  // sum of the values that have no probability yet, smallest first
  for (std::size_t i = n; i-- > 0;) rest += values[i];
  std::size_t first = 0;
  auto left = static_cast<double>(budget);
  while (first < n && values[first] > 0 && left * values[first] > rest) {
    probabilities[first++] = 1;
    left -= 1;
    rest = 0;
    for (std::size_t i = n; i-- > first;) rest += values[i];
  }
  for (std::size_t i = first; i < n && values[i] > 0; ++i) probabilities[i] = std::min(1.0, left * values[i] / rest);
}

}  // namespace gradcomp::compressors

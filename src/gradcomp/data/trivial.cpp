#include "gradcomp/data/trivial.hpp"

#include <algorithm>
#include <cmath>

namespace gradcomp::data {
namespace {

index_t count_of(const LabelCounts& counts, index_t label) {
  const auto found = counts.find(label);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

Trivial trivial_predictor(const LabelCounts& train, const LabelCounts& to_predict, index_t classes) {
  Trivial trivial;
  index_t all = 0;
  for (const auto& [label, count] : train) all += count;
  for (const auto& [label, count] : to_predict) {
    const double p = static_cast<double>(count_of(train, label) + 1) / static_cast<double>(all + classes);
    trivial.loss -= static_cast<double>(count) * std::log(p);
    trivial.count += count;
  }
  const auto most =
      std::max_element(train.begin(), train.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (trivial.count == 0 || most == train.end()) return {};
  trivial.loss /= static_cast<double>(trivial.count);
  trivial.accuracy = static_cast<double>(count_of(to_predict, most->first)) / static_cast<double>(trivial.count);
  return trivial;
}

}  // namespace gradcomp::data

#include "gradcomp/strategy/detail/bucket_places.hpp"

#include <algorithm>

#include "gradcomp/strategy/detail/transfer_order.hpp"

namespace gradcomp {

std::vector<std::size_t> places_of(const std::string& rule, const std::vector<BucketRange>& buckets,
                                   const std::vector<std::vector<std::size_t>>& layers) {
  std::vector<std::size_t> place(buckets.size());
  for (std::size_t b = 0; b < place.size(); ++b) place[b] = rule == "backward" ? b : place.size() - 1 - b;
  if (rule == "backward" || layers.empty()) return place;
  std::vector<std::size_t> order;  // buckets by first use
  for (const auto& layer : layers) {
    for (const std::size_t b : layer) {
      if (std::find(order.begin(), order.end(), b) == order.end()) order.push_back(b);
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  if (rule == "forward" || order.size() < place.size()) return place;
  std::vector<std::vector<std::size_t>> needed(layers.size());  // by place, so that first use breaks ties
  std::vector<double> seconds(place.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (const std::size_t b : layers[l]) needed[l].push_back(place[b]);
  }
  for (std::size_t b = 0; b < place.size(); ++b) seconds[place[b]] = static_cast<double>(buckets[b].count);
  const TransferGraph graph = line_of(needed, seconds);
  const auto chosen = rule == "tic" ? tic_order(graph) : tac_order(graph);
  std::vector<std::size_t> found(place.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) found[order[chosen[i]]] = i;
  return found;
}

}  // namespace gradcomp

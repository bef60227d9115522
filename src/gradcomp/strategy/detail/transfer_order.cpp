#include "gradcomp/strategy/detail/transfer_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace gradcomp {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// [operation][transfer]: whether the operation waits for the transfer, directly or through an earlier operation.
std::vector<std::vector<bool>> needs_of(const TransferGraph& graph) {
  std::vector<std::vector<bool>> needs;
  for (const auto& operation : graph.operations) {
    std::vector<bool> own(graph.transfer_seconds.size(), false);
    for (const std::size_t transfer : operation.transfers) own[transfer] = true;
    for (const std::size_t earlier : operation.after) {
      for (std::size_t t = 0; t < own.size(); ++t) own[t] = own[t] || needs.at(earlier)[t];
    }
    needs.push_back(std::move(own));
  }
  return needs;
}

/// What the rules know of the remaining transfers.
struct Properties {
  std::vector<double> alone;  ///< P
  std::vector<double> least;  ///< M+
};

Properties properties_of(const TransferGraph& graph, const std::vector<std::vector<bool>>& needs,
                         const std::vector<bool>& left, const std::vector<double>& seconds) {
  Properties found{std::vector<double>(left.size(), 0.0), std::vector<double>(left.size(), never)};
  for (std::size_t o = 0; o < needs.size(); ++o) {
    std::vector<std::size_t> waits_for;
    double sum = 0;
    for (std::size_t t = 0; t < left.size(); ++t) {
      if (!left[t] || !needs[o][t]) continue;
      waits_for.push_back(t);
      sum += seconds[t];
    }
    if (waits_for.size() == 1) found.alone[waits_for[0]] += graph.operations[o].seconds;
    if (waits_for.size() < 2) continue;
    for (const std::size_t t : waits_for) found.least[t] = std::min(found.least[t], sum);
  }
  return found;
}

}  // namespace

TransferGraph line_of(const std::vector<std::vector<std::size_t>>& transfers, std::vector<double> transfer_seconds) {
  TransferGraph graph;
  graph.transfer_seconds = std::move(transfer_seconds);
  for (const auto& own : transfers) {
    TransferGraph::Operation operation{1, own, {}};
    if (!graph.operations.empty()) operation.after = {graph.operations.size() - 1};
    graph.operations.push_back(std::move(operation));
  }
  return graph;
}

std::vector<std::size_t> tic_order(const TransferGraph& graph) {
  const std::size_t count = graph.transfer_seconds.size();
  const Properties known =
      properties_of(graph, needs_of(graph), std::vector<bool>(count, true), std::vector<double>(count, 1.0));
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return known.least[a] < known.least[b]; });
  return order;
}

std::vector<std::size_t> tac_order(const TransferGraph& graph) {
  const auto needs = needs_of(graph);
  const std::vector<double>& seconds = graph.transfer_seconds;
  std::vector<bool> left(seconds.size(), true);
  std::vector<std::size_t> order;
  while (order.size() < left.size()) {
    const Properties now = properties_of(graph, needs, left, seconds);
    const auto before = [&](std::size_t a, std::size_t b) {
      const double first = std::min(now.alone[b], seconds[a]), second = std::min(now.alone[a], seconds[b]);
      return first != second ? first < second : now.least[a] < now.least[b];
    };
    std::size_t best = left.size();
    for (std::size_t t = 0; t < left.size(); ++t) {
      if (left[t] && (best == left.size() || before(t, best))) best = t;
    }
    left[best] = false;
    order.push_back(best);
  }
  return order;
}

}  // namespace gradcomp

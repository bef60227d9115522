#include "gradcomp/exchange/reducers/hierarchical.hpp"

#include "gradcomp/exchange/detail/refusals.hpp"

namespace gradcomp {
namespace {

int ranks_per_node(const ReducerSetup& setup) {
  const auto chosen = static_cast<int>(setup.common.integer("reducer.ranks_per_node"));
  require(chosen > 0 || setup.ranks_per_node > 0,
          "reducer hierarchical: the nodes do not hold equal numbers of consecutive ranks; set "
          "reducer.ranks_per_node=N");
  const int per_node = chosen > 0 ? chosen : setup.ranks_per_node;
  require(setup.ranks % per_node == 0, "reducer hierarchical: {} ranks cannot be divided into nodes of {} ranks",
          setup.ranks, per_node);
  return per_node;
}

/// Hop::as of the hops on one level.
Width width(const ReducerSetup& setup, const std::string& level) {
  const std::string& chosen = setup.common.text("reducer." + level);
  return chosen == "bf16" ? Width::bf16 : chosen == "fp16" ? Width::fp16 : chosen == "int8" ? Width::int8 : Width::own;
}

Parameter width_of(const std::string& level, const std::string& where) {
  return Parameter::choice("reducer." + level, "own", {"own", "bf16", "fp16", "int8"},
                           "hierarchical: format of messages " + where +
                               "; own: messages are unchanged; others: 32-bit values are sent in 16 or 8 bits")
      .as_added();
}

}  // namespace

/// The vector is cut into one part per rank. Inside a node, a rank's share is as many parts as there are nodes.
HopPlan reducers::two_level(int rank, int ranks, int per_node, Width inside_as, Width across_as) {
  const int nodes = ranks / per_node, node = rank / per_node, place = rank % per_node;
  const auto around = [](int x, int n) { return (x % n + n) % n; };
  HopPlan plan;
  plan.parts = ranks;
  const auto inside = [&](int first, bool combines) {
    for (int hop = 0; hop + 1 < per_node; ++hop) {
      Hop one;
      one.to = node * per_node + around(place + 1, per_node);
      one.from = node * per_node + around(place - 1, per_node);
      one.sent = nodes * around(first - hop, per_node);
      one.received = nodes * around(first - hop - 1, per_node);
      one.span = nodes;
      one.combines = combines;
      one.as = inside_as;
      plan.hops.push_back(one);
    }
  };
  inside(place, true);
  const int own = around(place + 1, per_node);  // the share that is now complete in this node
  for (int hop = 0; hop < 2 * (nodes - 1); ++hop) {
    const bool adds = hop < nodes - 1;
    const int first = adds ? node - hop : node + 1 - (hop - (nodes - 1));
    Hop one;
    one.to = around(node + 1, nodes) * per_node + place;
    one.from = around(node - 1, nodes) * per_node + place;
    one.sent = nodes * own + around(first, nodes);
    one.received = nodes * own + around(first - 1, nodes);
    one.combines = adds;
    one.as = across_as;
    plan.hops.push_back(one);
  }
  inside(own, false);
  return plan;
}

ReducerEntry reducers::hierarchical() {
  ReducerEntry entry;
  entry.name = "hierarchical";
  entry.summary =
      "a ring inside each node, then a ring across nodes for each part; a node sends as much as a single rank would";
  entry.parameters = {
      Parameter::integer("reducer.ranks_per_node", "0", 0, 1 << 20,
                         "hierarchical: number of consecutive ranks that form a node; 0: the nodes of the machine")
          .as_added(),
      width_of("inside", "inside a node"), width_of("across", "across nodes")};
  entry.refusal = refuses_unsummable;
  entry.in_any_order = true;
  entry.make = [](const ReducerSetup& setup) {
    return std::make_unique<HopReducer>(setup, two_level(setup.rank, setup.ranks, ranks_per_node(setup),
                                                         width(setup, "inside"), width(setup, "across")));
  };
  return entry;
}

}  // namespace gradcomp

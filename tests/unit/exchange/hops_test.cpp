// Plans of hops. One process follows the plans of all ranks; they must reduce every part over every rank exactly once.
#include "gradcomp/exchange/detail/hops.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "gradcomp/exchange/reducers/hierarchical.hpp"
#include "gradcomp/exchange/reducers/recursive_doubling.hpp"
#include "gradcomp/exchange/reducers/ring.hpp"

namespace gradcomp {
namespace hops_test {

using Terms = std::vector<int>;  ///< how often a part holds the term of each rank

/// The vectors of all ranks, part by part.
class Job {
 public:
  Job(const std::function<HopPlan(int, int)>& plan, int ranks) {
    for (int r = 0; r < ranks; ++r) {
      m_plans.push_back(plan(r, ranks));
      Terms own(static_cast<std::size_t>(ranks), 0);
      own[static_cast<std::size_t>(r)] = 1;
      m_parts.emplace_back(static_cast<std::size_t>(m_plans.back().parts), own);
    }
  }

  void run() {
    for (const HopPlan& plan : m_plans) ASSERT_EQ(plan.hops.size(), m_plans[0].hops.size());
    for (std::size_t h = 0; h < m_plans[0].hops.size(); ++h) step(h);
  }

  const std::vector<std::vector<Terms>>& parts() const { return m_parts; }
  std::size_t hops() const { return m_plans[0].hops.size(); }
  int sent(std::size_t rank) const {
    int parts = 0;
    for (const Hop& hop : m_plans[rank].hops) parts += hop.to == nobody ? 0 : 1;
    return parts;
  }

 private:
  void step(std::size_t h) {
    const auto before = m_parts;
    for (std::size_t r = 0; r < m_plans.size(); ++r) {
      const Hop& hop = m_plans[r].hops[h];
      if (hop.to != nobody) {
        const Hop& other = m_plans[static_cast<std::size_t>(hop.to)].hops[h];
        ASSERT_EQ(other.from, static_cast<int>(r)) << "hop " << h;
        ASSERT_EQ(other.received, hop.sent) << "hop " << h;
        ASSERT_EQ(other.span, hop.span) << "hop " << h;
      }
      if (hop.from == nobody) continue;
      const auto from = static_cast<std::size_t>(hop.from);
      ASSERT_EQ(m_plans[from].hops[h].to, static_cast<int>(r)) << "hop " << h;
      for (int p = hop.received; p < hop.received + hop.span; ++p) {
        const auto part = static_cast<std::size_t>(p);
        for (std::size_t term = 0; term < m_plans.size(); ++term) {
          m_parts[r].at(part)[term] = before[from][part][term] + (hop.combines ? before[r][part][term] : 0);
        }
      }
    }
  }

  std::vector<HopPlan> m_plans;
  std::vector<std::vector<Terms>> m_parts;  ///< [ranks][parts]
};

TEST(Hops, EveryPlanReducesEveryPartOverEveryRankOnce) {
  for (auto* plan : {reducers::round_the_ring, reducers::doubling, binomial_tree}) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
      Job job(plan, ranks);
      job.run();
      for (const auto& parts : job.parts()) {
        for (const Terms& terms : parts) EXPECT_EQ(terms, Terms(static_cast<std::size_t>(ranks), 1)) << ranks;
      }
    }
  }
}

TEST(Hops, OfTwoLevelsReduceEveryPartOverEveryRankOnce) {
  for (int nodes = 1; nodes <= 5; ++nodes) {
    for (int per_node = 1; per_node <= 4; ++per_node) {
      const int ranks = nodes * per_node;
      Job job([per_node](int r, int all) { return reducers::two_level(r, all, per_node); }, ranks);
      job.run();
      for (const auto& parts : job.parts()) {
        for (const Terms& terms : parts) EXPECT_EQ(terms, Terms(static_cast<std::size_t>(ranks), 1)) << ranks;
      }
    }
  }
}

/// Number of parts that all ranks of node 0 send to other nodes. A vector has as many parts as there are ranks.
int leaves_the_node(int nodes, int per_node) {
  int parts = 0;
  for (int rank = 0; rank < per_node; ++rank) {
    for (const Hop& hop : reducers::two_level(rank, nodes * per_node, per_node).hops) {
      parts += hop.to / per_node != 0 ? hop.span : 0;
    }
  }
  return parts;
}

TEST(Hops, OfTwoLevelsSendWhatOneRankOfARingWould) {
  EXPECT_EQ(leaves_the_node(3, 4), 4 * 4) << "2 (3 - 1) / 3 of twelve parts";
  EXPECT_EQ(leaves_the_node(2, 2), 4) << "2 (2 - 1) / 2 of four parts";
  EXPECT_EQ(leaves_the_node(1, 4), 0);
}

TEST(Hops, AreAsManyAsThePapersSay) {
  EXPECT_EQ(Job(reducers::round_the_ring, 5).hops(), 8U);
  EXPECT_EQ(Job(reducers::round_the_ring, 5).sent(3), 8) << "fifths of the vector";
  EXPECT_EQ(Job(reducers::doubling, 8).hops(), 3U);
  EXPECT_EQ(Job(reducers::doubling, 8).sent(3), 3) << "whole vectors";
  EXPECT_EQ(Job(reducers::doubling, 6).hops(), 4U);
  EXPECT_EQ(Job(binomial_tree, 5).hops(), 6U);
  EXPECT_EQ(Job(binomial_tree, 1).hops(), 0U);
}

}  // namespace hops_test
}  // namespace gradcomp

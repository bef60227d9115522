#pragma once
// Our own allreduces: summable messages travel in hops between two ranks and are combined on the way. 16-bit floats are
// rounded in every hop, as in a library's ring, whereas `rank_order` rounds once. A hop may carry 32-bit values in 16
// or 8 bits: sums are then formed in 32 bits and rounded where they are sent. A rank that sends a final part keeps the
// rounded values that the others get.
#include <string>
#include <vector>

#include "gradcomp/exchange/detail/narrow.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

inline constexpr int nobody = -1;

/// What one rank does in one hop: it sends parts of the vector, receives parts, or both.
struct Hop {
  int to = nobody, from = nobody;
  int sent = 0, received = 0;  ///< first of the parts; the vector has HopPlan::parts equal ones
  /// Whether received parts are combined with those of this rank, in the order of the two ranks; otherwise they replace
  /// them.
  bool combines = false;
  int span = 1;           ///< number of parts that travel together, from `sent` and from `received` on
  Width as = Width::own;  ///< format of 32-bit values in this hop
};

/// All hops of one rank. All ranks have the same number of hops. After the last one, every part is the reduction over
/// all ranks.
struct HopPlan {
  int parts = 1;
  std::vector<Hop> hops;
};

/// Up a binomial tree to rank 0 in ceil(log2 ranks) hops, with strides 1, 2, 4 .., and down the same tree in as many.
HopPlan binomial_tree(int rank, int ranks);

class HopReducer final : public Reducer {
 public:
  HopReducer(const ReducerSetup& setup, HopPlan plan);

  int rounds() const override { return m_sender.rounds() * hops(); }
  void launch(const Exec& exec, int round, std::vector<Call>& calls) override;
  void complete(const Exec& exec, int round, std::span<const Found> found) override;
  void finish(const Exec& exec) override { m_sender.finish(exec); }
  index_t buffer_bytes() const override { return static_cast<index_t>(m_received.size() + m_narrowed.size()); }

 private:
  int hops() const { return std::max(1, static_cast<int>(m_plan.hops.size())); }
  /// The hop of a round. With a single rank there is one hop, in which nothing travels.
  Hop hop(int round) const {
    return m_plan.hops.empty() ? Hop() : m_plan.hops[static_cast<std::size_t>(round % hops())];
  }
  void check_narrowed(const Message& message) const;
  /// `span` consecutive parts of the message's result, from `first` on.
  Span<std::byte> parts(int first, int span) const;

  HopPlan m_plan;
  int m_tag;
  Vector<std::byte> m_received;  ///< parts that must be combined or widened
  Vector<std::byte> m_narrowed;  ///< what is sent in a hop of fewer bits
};

/// The entry of a reducer whose ranks follow `plan(rank, ranks)`.
ReducerEntry hop_entry(const std::string& name, const std::string& summary, HopPlan (*plan)(int rank, int ranks));

}  // namespace gradcomp

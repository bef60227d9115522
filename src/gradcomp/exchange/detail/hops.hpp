#pragma once
// Allreduces of our own: summable messages that travel in hops between two ranks and are combined on the way. 16-bit
// floats are rounded in every hop, as a library's ring does, where `allreduce` over MPI rounds once. A hop may carry
// 32-bit values in 16 or 8 bits: sums are then formed in 32 bits, and rounded where they are sent. Who sends a final
// part on keeps what the others get.
#include <string>
#include <vector>

#include "gradcomp/exchange/detail/narrow.hpp"
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

inline constexpr int nobody = -1;

/// What one rank does in one hop: sends a part of the vector, receives one, or both.
struct Hop {
  int to = nobody, from = nobody;
  int sent = 0, received = 0;  ///< parts, of HopPlan::parts equal ones
  bool combines = false;       ///< what comes is combined with what is there, in the order of the two ranks; else it
                               ///< takes its place
  int span = 1;                ///< parts, from `sent` and from `received` on, that travel together
  Width as = Width::own;       ///< of 32-bit values in this hop
};

/// All hops of one rank. Every rank has as many, and after the last one every part is the reduction over all ranks.
struct HopPlan {
  int parts = 1;
  std::vector<Hop> hops;
};

/// Up a binomial tree to rank 0 in ceil(log2 ranks) hops, with strides 1, 2, 4 .., and down again in as many.
HopPlan binomial_tree(int rank, int ranks);

class HopReducer final : public Reducer {
 public:
  HopReducer(const ReducerSetup& setup, HopPlan plan);

  int rounds() const override { return m_sender.rounds() * hops(); }
  void launch(const Exec& exec, int round, std::vector<Call>& calls) override;
  void complete(const Exec& exec, int round, std::span<const Found> found) override;
  /// The flag of a rank is a NaN that every rank sees in the sum.
  void finish(const Exec& exec, const Span<float>& mean, Verdict& verdict) override {
    m_sender.finish(exec, mean, verdict);
  }
  index_t buffer_bytes() const override { return static_cast<index_t>(m_received.size() + m_narrowed.size()); }

 private:
  int hops() const { return std::max(1, static_cast<int>(m_plan.hops.size())); }
  /// Of a round; a single rank has a hop in which nothing travels.
  Hop hop(int round) const {
    return m_plan.hops.empty() ? Hop() : m_plan.hops[static_cast<std::size_t>(round % hops())];
  }
  void check_narrowed(const Message& message) const;
  /// Parts of the message's result that follow each other.
  Span<std::byte> parts(int first, int span) const;

  HopPlan m_plan;
  int m_tag;
  Vector<std::byte> m_received;  ///< a part that is to be combined, or widened
  Vector<std::byte> m_narrowed;  ///< what is sent of a hop in fewer bits
};

/// The entry of a reducer whose ranks follow `plan(rank, ranks)`.
ReducerEntry hop_entry(const std::string& name, const std::string& summary, HopPlan (*plan)(int rank, int ranks));

}  // namespace gradcomp

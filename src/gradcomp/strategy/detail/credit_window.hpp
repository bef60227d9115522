#pragma once
// Decides which bucket is sent next, as ByteScheduler does (Peng et al., SOSP 2019): the most urgent of the complete
// ones. Only a few are sent at a time, because a bucket that was handed over cannot be overtaken any more.
// ByteScheduler's window counts bytes of equal slices; ours counts buckets, which the cut makes about equal.
#include <optional>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

class CreditWindow {
 public:
  /// At most `credits` of `buckets` buckets travel at a time.
  CreditWindow(std::size_t buckets, index_t credits)
      : m_place(buckets, 0), m_ready(buckets, false), m_credits(credits) {}

  /// The smaller place[bucket] is, the more urgent is the bucket. Among equal ones the smaller number comes first.
  void order(std::vector<std::size_t> place) { m_place = std::move(place); }

  /// Tells that the bucket is complete; it then waits for its turn.
  void add(std::size_t bucket) { m_ready[bucket] = true; }
  /// The next bucket, which travels from now on. Empty if there is none, or no credit.
  std::optional<std::size_t> take() {
    if (m_under_way >= m_credits) return std::nullopt;
    std::optional<std::size_t> best;
    for (std::size_t b = 0; b < m_ready.size(); ++b) {
      if (m_ready[b] && (!best || m_place[b] < m_place[*best])) best = b;
    }
    if (!best) return std::nullopt;
    m_ready[*best] = false;
    ++m_under_way;
    return best;
  }
  /// Tells that a bucket that travelled has arrived.
  void give_back() { --m_under_way; }

 private:
  std::vector<std::size_t> m_place;
  std::vector<bool> m_ready;
  index_t m_credits, m_under_way = 0;
};

}  // namespace gradcomp

#pragma once
// Which bucket is sent next, as ByteScheduler decides it (Peng et al., SOSP 2019): the most urgent of those that are
// complete, but only so many at a time, for what has been handed over cannot be overtaken any more. Their window counts
// bytes of equal slices; ours counts buckets, which the cut makes about equal.
#include <optional>
#include <vector>

#include "gradcomp/core/types.hpp"

namespace gradcomp {

class CreditWindow {
 public:
  /// Of `buckets` buckets at most `credits` are under way.
  CreditWindow(std::size_t buckets, index_t credits)
      : m_place(buckets, 0), m_ready(buckets, false), m_credits(credits) {}

  /// `place[bucket]`: the smaller, the more urgent. Of equal ones the smaller number comes first.
  void order(std::vector<std::size_t> place) { m_place = std::move(place); }

  /// The bucket is complete, and waits for its turn.
  void add(std::size_t bucket) { m_ready[bucket] = true; }
  /// The next one, which is under way from now on; nothing while there is none or no credit.
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
  /// One that was under way has arrived.
  void give_back() { --m_under_way; }

 private:
  std::vector<std::size_t> m_place;
  std::vector<bool> m_ready;
  index_t m_credits, m_under_way = 0;
};

}  // namespace gradcomp

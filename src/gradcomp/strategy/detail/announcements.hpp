#pragma once
// Rank 0 announces which bucket starts next, and all others receive it. So every rank starts the same buckets in the
// same order, although they become ready in different orders. Without announcements, two ranks could wait for each
// other's bucket forever.
#include <optional>
#include <vector>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

class Announcements {
 public:
  /// Announces numbers below `buckets`, in messages with this tag.
  Announcements(Transport& transport, int tag, std::size_t buckets);

  bool leads() const { return m_transport.rank() == 0; }
  /// On rank 0: announces that `bucket` starts now.
  void say(const Exec& exec, std::size_t bucket);
  /// On the others: `more` further announcements will come. Only expected ones are received.
  void expect(index_t more) { m_left += more; }
  /// On the others: the bucket that starts next, the same until take(). Empty if its announcement has not arrived.
  std::optional<std::size_t> next(const Exec& exec);
  /// Accepts what next() returned, so that next() goes on to the following bucket.
  void take() { m_next.reset(); }
  /// Waits until all announcements have left, so that their bytes are counted.
  void settle();

 private:
  Transport& m_transport;
  int m_tag;
  Vector<std::int64_t> m_numbers;  ///< [buckets] the numbers 0, 1, 2 .. that are sent
  Vector<std::int64_t> m_heard;    ///< [1]
  Completion m_coming;             ///< the receive in progress, if valid
  index_t m_left = 0;
  std::optional<std::size_t> m_next;
  std::vector<Completion> m_said;
};

}  // namespace gradcomp

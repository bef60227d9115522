#pragma once
// What starts next, said by rank 0 and heard by all others, so that every rank starts the same buckets in the same
// order although they are ready in different ones. Without that, two ranks could wait for each other's bucket for ever.
#include <optional>
#include <vector>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

class Announcements {
 public:
  /// Of numbers below `buckets`, over messages with this tag.
  Announcements(Transport& transport, int tag, std::size_t buckets);

  bool leads() const { return m_transport.rank() == 0; }
  /// Rank 0: `bucket` starts now.
  void say(const Exec& exec, std::size_t bucket);
  /// Others: so many more will be said. Nothing is listened for otherwise.
  void expect(index_t more) { m_left += more; }
  /// Others: what starts next, until take(); nothing while it has not come.
  std::optional<std::size_t> next(const Exec& exec);
  void take() { m_next.reset(); }
  /// Waits until all that was said has been seen to leave, so that it is counted.
  void settle();

 private:
  Transport& m_transport;
  int m_tag;
  Vector<std::int64_t> m_numbers;  ///< [buckets] 0, 1, 2 ..: what is sent
  Vector<std::int64_t> m_heard;    ///< [1]
  Completion m_coming;             ///< under way while it is valid
  index_t m_left = 0;
  std::optional<std::size_t> m_next;
  std::vector<Completion> m_said;
};

}  // namespace gradcomp

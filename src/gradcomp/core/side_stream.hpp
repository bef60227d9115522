#pragma once
// Work beside that of a caller. On a device it runs on a stream of its own, so that compression and backward run at the
// same time. On hosts, where work ends before its launch returns, it runs on the caller's instance.
#include "gradcomp/core/event.hpp"
#include "gradcomp/core/stream.hpp"
#include "gradcomp/core/types.hpp"

namespace gradcomp {

class SideStream {
 public:
  /// The instance for the work beside that of `caller`.
  const Exec& beside(const Exec& caller) const { return device_is_host ? caller : m_stream.exec(); }

  /// The same; its later work starts after everything that `caller` was given so far. The host does not wait.
  const Exec& after(const Exec& caller) {
    if (!device_is_host) order(caller, m_stream.exec());
    return beside(caller);
  }

  /// Later work of `caller` starts after everything that the side stream was given so far. The host does not wait.
  void join(const Exec& caller) {
    if (!device_is_host) order(m_stream.exec(), caller);
  }

 private:
  void order(const Exec& earlier, const Exec& later) {
    m_event.record(earlier);
    m_event.order(later);
  }

  Stream m_stream;
  Event m_event;
};

}  // namespace gradcomp

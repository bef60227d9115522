#pragma once
// callbacks: a transport made of the caller's own functions: another communication library, or a test's fake.
#include "gradcomp/comm/registry.hpp"

namespace gradcomp {

struct Callbacks {
  int rank = 0, size = 1;
  std::string name = "callbacks";
  bool overlaps = false;    ///< Transport::overlaps()
  bool concurrent = false;  ///< Transport::concurrent()
  /// Begins or continues a call: it is called when the call starts, and again by test() and wait() until it returns
  /// true, which it does once the call has ended and `found` is filled. Of collective calls without `overlaps`, the
  /// first time already. Buffers are ready: earlier work of exec has ended.
  std::function<bool(const Exec& exec, const Call& call, Found& found)> carry;
  /// Transport::split(); null where there is none.
  std::function<Callbacks(int color, int key)> split;
};

std::unique_ptr<Transport> make_callbacks(Callbacks callbacks);

namespace transports {
/// `owned`: Callbacks.
TransportEntry callbacks();
}  // namespace transports

}  // namespace gradcomp

#pragma once
// callbacks: a transport made of functions of the caller, for another communication library or for a fake in a test.
#include "gradcomp/comm/registry.hpp"

namespace gradcomp {

struct Callbacks {
  int rank = 0, size = 1;
  std::string name = "callbacks";
  bool overlaps = false;    ///< Transport::overlaps()
  bool concurrent = false;  ///< Transport::concurrent()
  /// Begins or continues a call. It is called when the call starts, and by test() and wait() until it returns true:
  /// then the call has ended and `found` is filled. Without `overlaps`, it must return true for a collective call the
  /// first time. The buffers are ready, since earlier work of exec has ended.
  std::function<bool(const Exec& exec, const Call& call, Found& found)> carry;
  /// Transport::split(); null if the transport cannot be split.
  std::function<Callbacks(int color, int key)> split;
};

std::unique_ptr<Transport> make_callbacks(Callbacks callbacks);

namespace transports {
/// `owned`: Callbacks.
TransportEntry callbacks();
}  // namespace transports

}  // namespace gradcomp

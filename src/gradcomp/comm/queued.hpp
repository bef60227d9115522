#pragma once
// A transport whose collective calls run, in the order in which they were started, on a communication thread of its
// own: start() returns at once, and the computation of the main thread hides them. In our trials MPI_Iallreduce hid
// nothing, a thread with blocking calls hid all (docs/concepts.md). Messages between two ranks go straight to the inner
// transport, so that a receive that waits holds up no other call.
#include <memory>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// `inner` should be a transport that nobody else uses: a split(). One that overlaps by itself is returned as it is;
/// otherwise throws Error unless it may be called beside the main thread (MPI_THREAD_MULTIPLE). The failure of a call
/// is thrown by wait() or test(). Destruction first finishes all calls made. `limit_seconds`: how long wait() waits for
/// a call, or for messages, before it throws; 0: for ever. After that, and after abandon(), nothing is finished any
/// more: the job must end.
std::unique_ptr<Transport> make_queued(std::unique_ptr<Transport> inner, double limit_seconds = 0);

/// `inner` with such a limit, which 0 is not.
std::unique_ptr<Transport> make_limited(std::unique_ptr<Transport> inner, double limit_seconds);

}  // namespace gradcomp

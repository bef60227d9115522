#pragma once
// A transport whose collective calls run, in the order in which they were started, on a communication thread of its
// own: start() returns at once, and the computation of the main thread hides them. In our trials, MPI_Iallreduce hid
// nothing, but a thread with blocking calls hid everything (docs/concepts.md). Messages between two ranks go directly
// to the inner transport, so that a waiting receive does not delay other calls.
#include <memory>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// `inner` should be a transport that nobody else uses: a split(). A transport that overlaps by itself is returned
/// unchanged. Otherwise throws Error unless the transport may be called from a second thread (MPI_THREAD_MULTIPLE).
/// wait() and test() throw the failure of a call. The destructor first finishes all calls. `limit_seconds`: how long
/// wait() waits for a call, or for messages, before it throws; 0: no limit. After such a throw, and after abandon(), no
/// call is finished any more: the job must end.
std::unique_ptr<Transport> make_queued(std::unique_ptr<Transport> inner, double limit_seconds = 0);

/// `inner` with such a limit, which 0 is not.
std::unique_ptr<Transport> make_limited(std::unique_ptr<Transport> inner, double limit_seconds);

}  // namespace gradcomp

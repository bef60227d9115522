#pragma once
// A transport with a communication thread, which carries the collective calls in the order in which they were started:
// start() returns at once, and the computation of the main thread hides the calls. In our trials, MPI_Iallreduce hid
// nothing, but a thread with blocking calls hid everything (docs/concepts.md). Messages between two ranks go directly
// to the inner transport, so that a waiting receive does not delay other calls.
#include <memory>

#include "gradcomp/comm/transport.hpp"

namespace gradcomp {

/// `inner` should be a transport that nobody else uses, such as a split(). A transport that overlaps by itself is
/// returned, with limit() called; any other must allow calls from a second thread (MPI_THREAD_MULTIPLE), otherwise
/// Error is thrown. wait() and test() throw the failure of a call. The destructor first finishes all calls.
/// `limit_seconds`: how long wait() waits for a call, or for messages, before it throws Error; 0: no limit. After this,
/// and after abandon(), no further call is begun, and the job must end.
std::unique_ptr<Transport> make_queued(std::unique_ptr<Transport> inner, double limit_seconds = 0);

/// make_queued() if there is a limit; `inner` itself if `limit_seconds` is 0.
std::unique_ptr<Transport> make_limited(std::unique_ptr<Transport> inner, double limit_seconds);

}  // namespace gradcomp

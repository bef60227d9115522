#pragma once
// A communicator whose calls run, in the order they were made, on a communication thread of its own: the calls return
// at once, and the computation of the main thread hides them. All ranks must make the same calls in the same order.
#include <memory>

#include "gradcomp/comm/communicator.hpp"

namespace gradcomp {

/// Throws Error unless `inner` may be called beside the main thread (MPI_THREAD_MULTIPLE). `inner` should be a
/// communicator that nobody else uses: a split(). A call's failure is thrown by its request's wait().
/// Destruction first finishes all calls made.
std::unique_ptr<Communicator> make_queued(std::unique_ptr<Communicator> inner);

}  // namespace gradcomp

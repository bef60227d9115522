#pragma once
// overlapped: a bucket is compressed and its exchange started as soon as backward has completed it; a communication
// thread carries the messages meanwhile. Kernels are launched from the calling thread only.
//
// The order of the exchanges is the static list (round 0 of bucket 0, 1, .., then round 1 of bucket 0, 1, ..), the same
// on all ranks whatever the order of readiness.
#include "gradcomp/exchange/bucket_schedule.hpp"

namespace gradcomp {

std::unique_ptr<Schedule> make_overlapped(const MethodSpec& method, const Layout& layout,
                                          std::unique_ptr<Communicator> comm, const ScheduleOptions& options);

}  // namespace gradcomp

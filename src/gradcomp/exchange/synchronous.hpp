#pragma once
// synchronous: all buckets after backward, one after the other, each round waiting for its exchange. Nothing overlaps:
// the plain reference, and the easiest schedule to profile.
#include "gradcomp/exchange/bucket_schedule.hpp"

namespace gradcomp {

std::unique_ptr<Schedule> make_synchronous(const MethodSpec& method, const Layout& layout,
                                           std::unique_ptr<Communicator> comm, const ScheduleOptions& options);

}  // namespace gradcomp

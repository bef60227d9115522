#pragma once
// The clock for limits of waiting.

namespace gradcomp {

/// Seconds of a monotonic clock that stands still while this process is stopped: a job that is suspended and goes on
/// has not waited meanwhile. Between two calls, of any threads, it advances by at most a quarter of a second. So who
/// waits must call it more often.
double waiting_seconds();

}  // namespace gradcomp

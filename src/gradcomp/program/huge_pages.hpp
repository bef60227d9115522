#pragma once
// Large arrays of a host on pages of 2 MiB: a core then looks up fewer addresses, and reads and writes faster.

namespace gradcomp {

/// From now on, asks the system to put each View of a host that has room for a huge page on huge pages (Linux: madvise;
/// Machine::huge_pages says whether it listens). A profiling tool that is loaded sees allocations as before. Call it
/// once, after Kokkos was initialised.
void ask_for_huge_pages();

}  // namespace gradcomp

#pragma once
// Read before every file whose host code is checked by HIP's compiler (cmake/CompileOnlyHIP.cmake): code of the host
// that reads or writes an element of an array in device memory does not pass.
//
// Kokkos asks at every access whether the memory can be reached from where the code runs, and ends the program if not.
// Here that question has no answer on a host. Where the compiler sees the access it is an error: "reference to
// __device__ function 'RuntimeCheckMemoryAccessViolation'", with the calls that lead to it. In classes of an unnamed
// namespace, such as most tests, it does not look; then the object file wants a function that nobody has, which
// check_objects finds.
#include <Kokkos_Core.hpp>

template <>
struct Kokkos::Impl::RuntimeCheckMemoryAccessViolation<Kokkos::DefaultExecutionSpace::memory_space,
                                                       Kokkos::DefaultHostExecutionSpace, false> {
  __device__ explicit RuntimeCheckMemoryAccessViolation(const char*);
};

// Nor does a launch over a range whose index type nobody chose: on a GPU it would have 32 bits, and a gradient may have
// more than 2^31 elements. "Implicit instantiation of undefined template" is the error, with the launch that led to it.
using DefaultRange = Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace>;
template <class F>
class Kokkos::Impl::ParallelFor<F, DefaultRange, Kokkos::DefaultExecutionSpace>;
template <class F>
class Kokkos::Impl::ParallelReduce<F, DefaultRange, Kokkos::DefaultExecutionSpace>;
template <class F>
class Kokkos::Impl::ParallelScan<F, DefaultRange, Kokkos::DefaultExecutionSpace>;
template <class F, class R>
class Kokkos::Impl::ParallelScanWithTotal<F, DefaultRange, R, Kokkos::DefaultExecutionSpace>;

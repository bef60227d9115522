#pragma once
// Included before every file whose host code HIP's compiler checks (cmake/CompileOnlyHIP.cmake). Host code that reads
// or writes an element of an array in device memory does not pass.
//
// At every access, Kokkos checks whether the code can reach the memory, and ends the program if it cannot. Here the
// function for this check does not exist on hosts. If the compiler sees the access, it reports an error: "reference to
// __device__ function 'RuntimeCheckMemoryAccessViolation'", with the calls that lead to it. In classes of an unnamed
// namespace, which most tests are, it does not check. Then the object file refers to a function that is not defined,
// and check_objects finds this.
#include <Kokkos_Core.hpp>

template <>
struct Kokkos::Impl::RuntimeCheckMemoryAccessViolation<Kokkos::DefaultExecutionSpace::memory_space,
                                                       Kokkos::DefaultHostExecutionSpace, false> {
  __device__ explicit RuntimeCheckMemoryAccessViolation(const char*);
};

// A launch over a range with the default index type does not pass either: on a GPU it would have 32 bits, but a
// gradient may have more than 2^31 elements. The error is "implicit instantiation of undefined template", with the
// launch that led to it.
using DefaultRange = Kokkos::RangePolicy<Kokkos::DefaultExecutionSpace>;
template <class F>
class Kokkos::Impl::ParallelFor<F, DefaultRange, Kokkos::DefaultExecutionSpace>;
template <class F>
class Kokkos::Impl::ParallelReduce<F, DefaultRange, Kokkos::DefaultExecutionSpace>;
template <class F>
class Kokkos::Impl::ParallelScan<F, DefaultRange, Kokkos::DefaultExecutionSpace>;
template <class F, class R>
class Kokkos::Impl::ParallelScanWithTotal<F, DefaultRange, R, Kokkos::DefaultExecutionSpace>;

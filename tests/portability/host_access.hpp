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

# Settings that depend on the device for which Kokkos was built: GRADCOMP_DEVICE_FOUND is host, cuda or hip.
set(GRADCOMP_DEVICE_FOUND host)
if(Kokkos_ENABLE_CUDA)
  set(GRADCOMP_DEVICE_FOUND cuda)
elseif(Kokkos_ENABLE_HIP)
  set(GRADCOMP_DEVICE_FOUND hip)
endif()
if(NOT GRADCOMP_DEVICE MATCHES "^(any|host|lanes|cuda|hip)$")
  message(FATAL_ERROR "GRADCOMP_DEVICE is '${GRADCOMP_DEVICE}'; allowed: any, host, lanes, cuda, hip")
endif()
string(REPLACE lanes host wanted "${GRADCOMP_DEVICE}")
if(NOT wanted STREQUAL "any" AND NOT wanted STREQUAL GRADCOMP_DEVICE_FOUND)
  message(FATAL_ERROR "GRADCOMP_DEVICE=${GRADCOMP_DEVICE} needs a Kokkos built for that device, but the Kokkos in "
    "${Kokkos_DIR} has: ${Kokkos_DEVICES}")
endif()

# The device branches of kernels, run by a host: every thread is a fibre (docs/testing.md).
if(GRADCOMP_DEVICE STREQUAL "lanes")
  add_compile_definitions(GRADCOMP_LANES)
endif()

# nvcc behind Kokkos' nvcc_wrapper warns about conversions to const that are never called, because the type is const already.
if(GRADCOMP_DEVICE_FOUND STREQUAL "cuda" AND NOT GRADCOMP_COMPILE_ONLY AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang|NVHPC")
  add_compile_options("SHELL:-Xcudafe --diag_suppress=554")
endif()

# Several sources of a library or program are compiled together: most of the time goes to headers and templates that all of them
# use. So two files of a folder must not give one name to different things, not even where only the file sees it.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)
if(NOT GRADCOMP_DEVICE_FOUND STREQUAL "host") # nvcc reads no precompiled headers
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# gradcomp_device_sources(<variable>): removes `*_host.cpp` from the list in a build for a GPU. These files hold the
# variants of a kernel that only a host runs (`if constexpr (device_is_host)`); they launch host code on Exec. And the
# fibres, where they do not run.
function(gradcomp_device_sources variable)
  if(NOT GRADCOMP_DEVICE_FOUND STREQUAL "host")
    list(FILTER ${variable} EXCLUDE REGEX "_host\\.cpp$")
  endif()
  if(NOT GRADCOMP_DEVICE STREQUAL "lanes")
    list(FILTER ${variable} EXCLUDE REGEX "/fibres\\.cpp$")
  endif()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# gradcomp_no_contraction(<target>): no compiler may fuse a product and a sum into one rounding, neither on the host nor
# on the device, since bytes must agree between devices (docs/concepts.md). nvcc takes its own flag for device code,
# whether it is called as the CUDA compiler or stands behind the C++ compiler as Kokkos' nvcc_wrapper, which CMake takes
# for the GCC that it calls.
function(gradcomp_no_contraction target)
  set(cxx -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "NVHPC")
    set(cxx -Mnofma)
  elseif(GRADCOMP_DEVICE_FOUND STREQUAL "cuda" AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND cxx --fmad=false)
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${cxx}>"
    $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--fmad=false>
    "$<$<OR:$<COMPILE_LANG_AND_ID:CUDA,Clang>,$<COMPILE_LANGUAGE:HIP>>:-ffp-contract=off>")
endfunction()

# Finds out how the Kokkos Kernels were built from their configuration header, since their CMake packages
# differ: GRADCOMP_KOKKOS_KERNELS_OVER names the library beneath KokkosBlas ("none": loops of its own).
find_path(header KokkosKernels_config.h REQUIRED NO_CACHE NO_DEFAULT_PATH PATH_SUFFIXES trilinos
          HINTS ${KokkosKernels_DIR}/../../../include ${KokkosKernels_DIR}/../../../../include)
file(STRINGS ${header}/KokkosKernels_config.h defined REGEX "^#define KOKKOSKERNELS_ENABLE_")
list(TRANSFORM defined REPLACE "^#define KOKKOSKERNELS_ENABLE_([A-Z_]+).*" "\\1")
foreach(component BLAS BATCHED)
  if(NOT COMPONENT_${component} IN_LIST defined)
    message(FATAL_ERROR "The Kokkos Kernels in ${KokkosKernels_DIR} do not have the component ${component}: build them with "
      "-DKokkosKernels_ENABLE_COMPONENT_${component}=ON")
  endif()
endforeach()

set(candidates MKL ARMPL BLAS)
if(Kokkos_ENABLE_CUDA)
  set(candidates CUBLAS)
elseif(Kokkos_ENABLE_HIP)
  set(candidates ROCBLAS)
endif()
set(GRADCOMP_KOKKOS_KERNELS_OVER none)
foreach(candidate ${candidates})
  if(TPL_${candidate} IN_LIST defined)
    set(GRADCOMP_KOKKOS_KERNELS_OVER ${candidate})
    break()
  endif()
endforeach()
if(GRADCOMP_KOKKOS_KERNELS_OVER STREQUAL "none")
  message(WARNING "The Kokkos Kernels in ${KokkosKernels_DIR} are built without any of: ${candidates}. Products of matrices "
    "take loops of theirs, which no measurement should rest on; build them with -DKokkosKernels_ENABLE_TPL_...=ON")
endif()

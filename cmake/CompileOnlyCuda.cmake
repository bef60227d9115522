# Compiles, without linking, every file that holds a kernel, for CUDA sm_90: proof on a machine without a GPU that the one
# source of each kernel is also CUDA code.
#
# Which files: all of the layers through which a step goes on a device, and those of feedback, nn, data and measure that
# launch something themselves or include a header of kernels/; less `*_host.cpp`, which are the host's own variants of a
# kernel.
include(KokkosShadow)
include(CheckLanguage)

check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  set(reason "cuda-compile: skipped, there is no CUDA toolkit (no nvcc on PATH)")
  message(STATUS ${reason})
  add_custom_target(cuda_compile ALL COMMAND ${CMAKE_COMMAND} -E echo ${reason} VERBATIM)
  return()
endif()
set(CMAKE_CUDA_ARCHITECTURES 90-real)
set(CMAKE_CUDA_STANDARD 20)
enable_language(CUDA)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(Boost 1.74 CONFIG REQUIRED)
find_package(MPI 3.1 REQUIRED COMPONENTS CXX)

set(shadow ${CMAKE_BINARY_DIR}/kokkos-cuda)
kokkos_shadow(${shadow} CUDA SERIAL KOKKOS_ARCH_HOPPER KOKKOS_ARCH_HOPPER90)

find_path(GRADCOMP_NCCL_INCLUDE nccl.h HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
if(NOT GRADCOMP_NCCL_INCLUDE)
  message(STATUS "cuda-compile: without the transport over NCCL, whose nccl.h is not in this toolkit")
endif()

set(layers core kernels coders compressors feedback nn data measure comm exchange strategy)
foreach(layer ${layers})
  file(GLOB candidates CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/gradcomp/${layer}/*.cpp
       ${CMAKE_SOURCE_DIR}/src/gradcomp/${layer}/*/*.cpp)
  list(FILTER candidates EXCLUDE REGEX "_host\\.cpp$")
  if(NOT GRADCOMP_NCCL_INCLUDE)
    list(FILTER candidates EXCLUDE REGEX "/nccl[a-z_]*\\.cpp$")
  endif()
  set(sources "")
  if(NOT layer MATCHES "^(feedback|nn|data|measure)$")
    set(sources ${candidates})
    set(candidates "")
  endif()
  foreach(candidate ${candidates})
    file(STRINGS ${candidate} launches REGEX "Kokkos::parallel_|KOKKOS_LAMBDA|KOKKOS_INLINE_FUNCTION|gradcomp/kernels/" LIMIT_COUNT 1)
    if(launches)
      list(APPEND sources ${candidate})
    endif()
  endforeach()
  if(NOT sources)
    continue()
  endif()
  foreach(source ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE shown)
    message(STATUS "cuda-compile: ${shown}")
  endforeach()
  set_source_files_properties(${sources} PROPERTIES LANGUAGE CUDA)
  add_library(cuda_${layer} OBJECT ${sources})
  # Together, eight files at a time: most of a file's time is Kokkos' headers.
  set_target_properties(cuda_${layer} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  add_dependencies(cuda_${layer} gradcomp_git_version)
  target_include_directories(cuda_${layer} PRIVATE ${CMAKE_SOURCE_DIR}/src ${GRADCOMP_GENERATED_DIR})
  # All as system directories, whose warnings are not ours; the shadow comes before what it overlays.
  target_include_directories(cuda_${layer} SYSTEM PRIVATE ${shadow} ${KOKKOS_HEADER_DIR})
  target_link_libraries(cuda_${layer} PRIVATE fmt::fmt-header-only nlohmann_json::nlohmann_json Boost::headers
    $<$<STREQUAL:${layer},comm>:MPI::MPI_CXX>)
  # Quiet: 20011 and 20208 come from inside Kokkos and the standard library; 554 from a conversion to const that is never
  # called when the type is const already. The other warnings are the host build's matter; one that only this can see,
  # host code called from a kernel, is an error in CI.
  target_compile_options(cuda_${layer} PRIVATE --extended-lambda --expt-relaxed-constexpr
    --diag-suppress=554,20011,20208 $<$<BOOL:${GRADCOMP_ENABLE_WERROR}>:-Werror=cross-execution-space-call>)
  if(layer MATCHES "kernels|coders|compressors") # bytes agree between devices: docs/concepts.md
    target_compile_options(cuda_${layer} PRIVATE --fmad=false)
  endif()
endforeach()
if(GRADCOMP_NCCL_INCLUDE)
  include(CheckNccl)
  gradcomp_check_nccl(cuda_comm)
endif()

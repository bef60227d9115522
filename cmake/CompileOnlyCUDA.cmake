# How cmake/CompileOnly.cmake calls nvcc: every file for host and device.
#
# Quiet: 20011 and 20208 come from inside Kokkos and the standard library; 554 from a conversion to const that is never
# called when the type is const already.
add_compile_options(--extended-lambda --expt-relaxed-constexpr --diag-suppress=554,20011,20208
  $<$<BOOL:${GRADCOMP_ENABLE_WERROR}>:--Werror=all-warnings>)

# The report of ptxas on registers and spills is kept beside each object, for tools/kernel_registers.
add_compile_options(-Xptxas=-v)
list(PREPEND CMAKE_CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/keep_ptxas_log)

set(compile_only_left_out "^$")
find_path(GRADCOMP_NCCL_INCLUDE nccl.h HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
if(NOT GRADCOMP_NCCL_INCLUDE)
  message(STATUS "compile only: without the transport over NCCL, whose nccl.h is not in this toolkit")
  set(compile_only_left_out "/nccl[a-z_]*\\.cpp$")
endif()
include(CheckNccl)

function(compile_only_layer name)
  compile_only(${name}_device BATCH 24 SOURCES ${ARGN})
  if(name MATCHES "comm$" AND GRADCOMP_NCCL_INCLUDE)
    gradcomp_check_nccl(${name}_device nccl)
  endif()
  set(compile_only_host ${name}_device PARENT_SCOPE)
endfunction()

function(compile_only_tests name)
  compile_only(${name} BATCH 1 SOURCES ${ARGN})
endfunction()

# How cmake/CompileOnly.cmake calls HIP's clang: files with a kernel for the device, every file for the host.
#
# For the host a layer is one unit, so that names that clash show here, before a build for a GPU takes several files
# together (cmake/Device.cmake); and tests/portability/host_access.hpp is read first, which makes it an error that host
# code touches device memory, or that a launch counts with 32 bits. Tests are compiled one by one, with that header and
# GoogleTest precompiled: only their host code is checked, since nvcc compiles their few kernels.
# Without -Wshadow: clang warns of more cases than gcc, with which the host builds check it.
set(warnings -Wall -Wextra -Wno-unknown-pragmas)
if(GRADCOMP_ENABLE_WERROR)
  list(APPEND warnings -Werror)
endif()
set(compile_only_left_out "/bench/alternatives/") # those of CUB are CUDA's own
find_path(GRADCOMP_NCCL_INCLUDE rccl/rccl.h)
if(GRADCOMP_NCCL_INCLUDE)
  include_directories(SYSTEM ${GRADCOMP_NCCL_INCLUDE})
else()
  message(STATUS "compile only: without the transport over RCCL, whose rccl.h is not here")
  string(APPEND compile_only_left_out "|/nccl[a-z_]*\\.cpp$")
endif()
include(CheckNccl)
set(guard ${PROJECT_SOURCE_DIR}/tests/portability/host_access.hpp)
# For a device alone, clang's driver writes no file of dependencies, so the compiler proper is asked for it. Without the file,
# Ninja would miss changed headers, and the compiler cache would store nothing.
string(APPEND CMAKE_DEPFILE_FLAGS_HIP " -Xclang -dependency-file -Xclang <DEP_FILE>")

# check_objects(<name>): runs tests/portability/check_objects on the objects of a target.
function(check_objects name)
  set(list ${CMAKE_BINARY_DIR}/${name}.objects)
  file(GENERATE OUTPUT ${list} CONTENT "$<JOIN:$<TARGET_OBJECTS:${name}>,\n>\n")
  add_custom_command(OUTPUT ${name}.checked
    COMMAND ${PROJECT_SOURCE_DIR}/tests/portability/check_objects ${list}
    COMMAND ${CMAKE_COMMAND} -E touch ${name}.checked
    DEPENDS $<TARGET_OBJECTS:${name}> ${PROJECT_SOURCE_DIR}/tests/portability/check_objects VERBATIM)
  add_custom_target(${name}_checked ALL DEPENDS ${name}.checked)
endfunction()

function(compile_only_layer name)
  set(kernels "")
  foreach(source ${ARGN})
    file(STRINGS ${source} launches REGEX "Kokkos::parallel_|KOKKOS_|for_warps|gradcomp/kernels/" LIMIT_COUNT 1)
    if(launches)
      list(APPEND kernels ${source})
    endif()
  endforeach()
  compile_only(${name}_device BATCH 12 OPTIONS ${warnings} --offload-device-only -O1
    -Wno-unused-command-line-argument SOURCES ${kernels})
  compile_only(${name} BATCH 1000 OPTIONS ${warnings} --offload-host-only -O0 "SHELL:-include ${guard}" SOURCES ${ARGN})
  check_objects(${name})
  if(name MATCHES "comm$" AND GRADCOMP_NCCL_INCLUDE)
    gradcomp_check_nccl(${name} rccl)
  endif()
  set(compile_only_host ${name} PARENT_SCOPE)
endfunction()

# The precompiled header. The compiler cache uses its checksum file instead of its content (CCACHE_PCH_EXTSUM), because the file
# holds the path of this folder. Compilers get only its name, since Ninja runs them in this folder: the cache does not rewrite a
# whole path after -Xclang, so that other clones would not find the entry.
set(header ${CMAKE_BINARY_DIR}/tests.hpp)
set(precompiled ${header}.pch)
file(CONFIGURE OUTPUT ${header} CONTENT
  "#include <portability/host_access.hpp>\n#include <fmt/format.h>\n#include <gmock/gmock.h>\n#include <gtest/gtest.h>\n")
string(TOUPPER ${CMAKE_BUILD_TYPE} build_type)
separate_arguments(flags UNIX_COMMAND "${CMAKE_HIP_FLAGS} ${CMAKE_HIP_FLAGS_${build_type}}")
list(APPEND flags -x hip -std=c++20 --offload-arch=${architecture} --offload-host-only -O0 -I${PROJECT_SOURCE_DIR}/tests
  -isystem ${shadow} -isystem ${KOKKOS_HEADER_DIR} -DFMT_HEADER_ONLY=1 -DGTEST_HAS_PTHREAD=1)
add_custom_command(OUTPUT ${precompiled}
  COMMAND ${CMAKE_HIP_COMPILER} ${flags} -Xclang -emit-pch -Xclang -fno-pch-timestamp -c ${header} -o ${precompiled}
  COMMAND ${CMAKE_HIP_COMPILER} ${flags} -E -P ${header} | sha256sum > ${precompiled}.sum
  DEPENDS ${header} ${guard} VERBATIM)
add_custom_target(compile_only_precompiled DEPENDS ${precompiled})

function(compile_only_tests name)
  compile_only(${name} BATCH 1 OPTIONS ${warnings} --offload-host-only -O0 -Xclang -fno-pch-timestamp
    "SHELL:-Xclang -include-pch -Xclang tests.hpp.pch" SOURCES ${ARGN})
  if(TARGET ${name})
    add_dependencies(${name} compile_only_precompiled)
    set_source_files_properties(${ARGN} PROPERTIES OBJECT_DEPENDS ${precompiled})
    check_objects(${name})
  endif()
endfunction()

# Checks the guard itself: a small file with planted faults does not pass, and the same file without them does.
foreach(planted none seen hidden narrow)
  add_custom_command(OUTPUT planted_${planted}
    COMMAND ${CMAKE_COMMAND} -DPLANTED=${planted} "-DCOMPILE=${CMAKE_HIP_COMPILER};${flags};-include;${guard}"
            -DOBJECT=${CMAKE_BINARY_DIR}/planted_${planted}.o -P ${PROJECT_SOURCE_DIR}/tests/portability/check_planted.cmake
    COMMAND ${CMAKE_COMMAND} -E touch planted_${planted}
    DEPENDS ${guard} ${PROJECT_SOURCE_DIR}/tests/portability/planted_access.cpp
            ${PROJECT_SOURCE_DIR}/tests/portability/check_planted.cmake
            ${PROJECT_SOURCE_DIR}/tests/portability/check_objects
    VERBATIM)
  add_custom_target(compile_only_planted_${planted} ALL DEPENDS planted_${planted})
endforeach()

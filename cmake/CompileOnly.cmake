# Compiles for a GPU, without linking, every file that a build for that GPU compiles: proof on a machine without one that
# the one source of each kernel is also CUDA and HIP code. GRADCOMP_COMPILE_ONLY names the GPU's architecture;
# GRADCOMP_ENABLE_TESTS=ON adds the tests.
#
# How either compiler is called, and what else it proves: cmake/CompileOnlyCUDA.cmake, cmake/CompileOnlyHIP.cmake.
set(gradcomp_architecture_sm_80 CUDA 80-real KOKKOS_ARCH_AMPERE KOKKOS_ARCH_AMPERE80)
set(gradcomp_architecture_sm_90 CUDA 90-real KOKKOS_ARCH_HOPPER KOKKOS_ARCH_HOPPER90)
set(gradcomp_architecture_sm_100 CUDA 100-real KOKKOS_ARCH_BLACKWELL KOKKOS_ARCH_BLACKWELL100)
set(gradcomp_architecture_gfx90a HIP gfx90a KOKKOS_ARCH_AMD_GPU KOKKOS_ARCH_VEGA KOKKOS_ARCH_VEGA90A KOKKOS_ARCH_AMD_GFX90A)
set(gradcomp_architecture_gfx942 HIP gfx942 KOKKOS_ARCH_AMD_GPU KOKKOS_ARCH_AMD_GFX942)
set(kokkos ${gradcomp_architecture_${GRADCOMP_COMPILE_ONLY}})
if(NOT kokkos)
  message(FATAL_ERROR "GRADCOMP_COMPILE_ONLY is '${GRADCOMP_COMPILE_ONLY}'; allowed: sm_80, sm_90, sm_100, gfx90a, gfx942")
endif()
list(POP_FRONT kokkos language architecture)

include(KokkosShadow)
include(CheckLanguage)
check_language(${language})
if(NOT CMAKE_${language}_COMPILER)
  set(reason "compile only: skipped, there is no compiler for ${language} (see docs/devices.md)")
  message(STATUS ${reason})
  add_custom_target(compile_only ALL COMMAND ${CMAKE_COMMAND} -E echo ${reason} VERBATIM)
  return()
endif()
set(CMAKE_${language}_ARCHITECTURES ${architecture})
set(CMAKE_${language}_STANDARD 20)
enable_language(${language})
set(Kokkos_ENABLE_${language} ON)
include(Device)
set(CMAKE_UNITY_BUILD OFF) # compile_only() takes files together itself
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.74 CONFIG REQUIRED)
find_package(MPI 3.1 REQUIRED COMPONENTS CXX)
find_package(benchmark REQUIRED)
find_package(GTest REQUIRED)

set(shadow ${CMAKE_BINARY_DIR}/kokkos)
kokkos_shadow(${shadow} ${language} SERIAL ${kokkos})
add_library(compile_only_common INTERFACE)
target_include_directories(compile_only_common INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
  ${PROJECT_SOURCE_DIR}/miniapps ${PROJECT_SOURCE_DIR}/bench ${PROJECT_SOURCE_DIR}/bench/alternatives ${PROJECT_SOURCE_DIR}/tests ${GRADCOMP_GENERATED_DIR})
# System directories, because their warnings are not ours. The shadow comes before the headers that it replaces.
target_include_directories(compile_only_common SYSTEM INTERFACE ${shadow} ${KOKKOS_HEADER_DIR})
target_link_libraries(compile_only_common INTERFACE fmt::fmt-header-only nlohmann_json::nlohmann_json Boost::headers
  CLI11::CLI11 MPI::MPI_CXX benchmark::benchmark GTest::gtest GTest::gmock)

# compile_only(<name> BATCH <number> [OPTIONS <flag>...] SOURCES <source>...): objects of these sources, so many files in one
# compilation, since most of the time is spent in Kokkos' headers. (CMake's own UNITY_BUILD does not know HIP.)
function(compile_only name)
  cmake_parse_arguments(arg "" "BATCH" "OPTIONS;SOURCES" ${ARGN})
  set(sources ${arg_SOURCES})
  gradcomp_device_sources(sources)
  set(units "")
  while(sources AND arg_BATCH GREATER 1)
    list(SUBLIST sources 0 ${arg_BATCH} together)
    list(REMOVE_ITEM sources ${together})
    list(LENGTH units number)
    list(TRANSFORM together REPLACE "^${PROJECT_SOURCE_DIR}/" "") # a name that other clones share
    list(TRANSFORM together REPLACE "(.+)" "#include \"\\1\"\n")
    string(JOIN "" together ${together})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/units/${name}_${number}.cpp CONTENT "${together}" @ONLY)
    list(APPEND units ${CMAKE_BINARY_DIR}/units/${name}_${number}.cpp)
  endwhile()
  list(APPEND units ${sources})
  if(NOT units)
    return()
  endif()
  add_library(${name} OBJECT ${units})
  set_source_files_properties(${units} PROPERTIES LANGUAGE ${language})
  target_link_libraries(${name} PRIVATE compile_only_common)
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  add_dependencies(${name} gradcomp_git_version)
  if(name MATCHES "(kernels|coders|compressors|feedback|bench)_device$") # as in a real build
    gradcomp_no_contraction(${name})
  endif()
endfunction()

# compile_only_layer(<name> <source>...) sets compile_only_host to the target that holds the host code of all of these sources;
# compile_only_tests(<name> <source>...).
include(CompileOnly${language})
# compile_only_folder(<folder> <source>...): compiles those that this compiler can.
function(compile_only_folder folder)
  set(sources ${ARGN})
  list(FILTER sources EXCLUDE REGEX "${compile_only_left_out}")
  if(NOT sources) # no folder, or nothing in it for this compiler
    return()
  endif()
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
  string(REPLACE "/" "_" name ${name})
  compile_only_layer(${name} ${sources})
  if(TARGET ${compile_only_host})
    set_property(GLOBAL APPEND PROPERTY compile_only_objects $<TARGET_OBJECTS:${compile_only_host}>)
  endif()
endfunction()

file(GLOB layers LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/src/gradcomp/*)
foreach(layer ${layers})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${layer}/*.cpp)
  compile_only_folder(${layer} ${sources})
endforeach()
file(GLOB folders LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/bench/* ${PROJECT_SOURCE_DIR}/bench/*/* ${PROJECT_SOURCE_DIR}/miniapps/*)
foreach(folder ${PROJECT_SOURCE_DIR}/bench ${folders})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  compile_only_folder(${folder} ${sources})
endforeach()

# Whether a device build defines every function that it calls.
get_property(objects GLOBAL PROPERTY compile_only_objects)
set(check ${PROJECT_SOURCE_DIR}/tests/portability/check_defined)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/all.objects CONTENT "$<JOIN:${objects},\n>\n")
add_custom_command(OUTPUT all.checked
  COMMAND ${check} ${CMAKE_BINARY_DIR}/all.objects
  COMMAND ${CMAKE_COMMAND} -E touch all.checked
  DEPENDS ${objects} ${check} VERBATIM)
add_custom_target(all_checked ALL DEPENDS all.checked)

if(GRADCOMP_ENABLE_TESTS)
  file(GLOB folders LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/unit/* ${PROJECT_SOURCE_DIR}/tests/*)
  # fake_nccl stands for the real one on hosts; lanes plants faults among fibres.
  list(REMOVE_ITEM folders ${PROJECT_SOURCE_DIR}/tests/fake_nccl ${PROJECT_SOURCE_DIR}/tests/lanes)
  foreach(folder ${folders})
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    if(folder MATCHES "/unit/(kernels|nn|data|compressors)$") # tests have the folders of what they test
      file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    endif()
    cmake_path(GET folder FILENAME name)
    compile_only_tests(tests_${name} ${sources})
  endforeach()
endif()

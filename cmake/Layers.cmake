# A folder of src/gradcomp is a layer: a static library with an include root of its own, include/<layer> in the build
# folder, whose gradcomp/<layer> leads to the sources. A compiler sees the roots of the layer and of those that it
# declares, and of those that their headers declare. So what includes another does not compile (tests/layers).
# $<BUILD_INTERFACE:...> keeps settings of this build (warnings, sanitizers, folders) out of the installed targets.

# -fno-trapping-math changes no value: it lets gcc compute both sides of a choice, without which loops with one in them
# (half-precision casts) are not vectorised.
# For Intel's servers, gcc prefers half of the vector registers that they have, because long ones lowered the clock of old
# ones: the first pass of a sparsifier then takes 1.3 to 1.6 times as long in cache.
include(CheckCXXCompilerFlag)
if(GRADCOMP_NATIVE_ARCH)
  check_cxx_compiler_flag(-mprefer-vector-width=512 GRADCOMP_HAS_WIDE_VECTORS)
endif()
add_library(gradcomp_options INTERFACE)
target_compile_options(gradcomp_options INTERFACE -Wall -Wextra
                       $<$<NOT:$<CXX_COMPILER_ID:Clang>>:-Wshadow> # clang warns of more cases than gcc
                       -Wno-unknown-pragmas -fno-trapping-math
                       $<$<BOOL:${GRADCOMP_ENABLE_WERROR}>:-Werror>
                       $<$<BOOL:${GRADCOMP_NATIVE_ARCH}>:-march=native>
                       $<$<BOOL:${GRADCOMP_HAS_WIDE_VECTORS}>:-mprefer-vector-width=512>)
if(GRADCOMP_ENABLE_FUZZ)
  target_compile_options(gradcomp_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                         -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(gradcomp_options INTERFACE -fsanitize=address,undefined)
endif()
if(GRADCOMP_ENABLE_KOKKOS_KERNELS)
  target_link_options(gradcomp_options INTERFACE -Wl,--disable-new-dtags)
endif()

# One precompiled header per set of flags: without it the Kokkos header costs seconds per file. Kernels are compiled with full
# optimisation. Code that only controls them (records, command lines, tests: `light`) is compiled without, to save build time.
file(WRITE ${PROJECT_BINARY_DIR}/pch.cpp "")
set(kinds pch pch_nocontract pch_test)
if(GRADCOMP_ENABLE_PROGRAMS)
  list(APPEND kinds pch_light)
endif()
foreach(kind ${kinds})
  add_library(gradcomp_${kind} OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
  target_link_libraries(gradcomp_${kind} PUBLIC Kokkos::kokkos gradcomp_options)
  target_precompile_headers(gradcomp_${kind} PRIVATE <Kokkos_Core.hpp> <string> <vector> <memory> <functional> <map>)
endforeach()
gradcomp_no_contraction(gradcomp_pch_nocontract)
set(light -O1)
if(GRADCOMP_DEVICE_FOUND STREQUAL "cuda") # nvcc takes one -O and warns of two
  set(light "")
endif()
if(GRADCOMP_ENABLE_PROGRAMS)
  target_compile_options(gradcomp_pch_light PRIVATE ${light})
  target_link_libraries(gradcomp_pch_light PUBLIC nlohmann_json::nlohmann_json)
  target_precompile_headers(gradcomp_pch_light PRIVATE <nlohmann/json.hpp>)
endif()
# only for tests: measured programs have no checks of indices and of empty optionals
target_compile_options(gradcomp_pch_test PRIVATE ${light} -D_GLIBCXX_ASSERTIONS)
if(GRADCOMP_ENABLE_TESTS)
  target_link_libraries(gradcomp_pch_test PUBLIC GTest::gtest GTest::gmock)
  target_precompile_headers(gradcomp_pch_test PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
endif()

# gradcomp_use_pch(<target> <kind>): the header of that kind with the flags that belong to it.
function(gradcomp_use_pch target kind)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:gradcomp_options>)
  target_precompile_headers(${target} REUSE_FROM gradcomp_${kind})
  target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:gradcomp_${kind},COMPILE_OPTIONS>)
  if(kind STREQUAL pch_light)
    target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
  elseif(kind STREQUAL pch_test)
    target_link_libraries(${target} PRIVATE GTest::gtest GTest::gmock)
  endif()
endfunction()

# gradcomp_link(<target> <PUBLIC | PRIVATE | INTERFACE> layer... or target...)
function(gradcomp_link target visibility)
  foreach(dependency ${ARGN})
    if(TARGET gradcomp_${dependency})
      set(dependency gradcomp_${dependency})
    endif()
    target_link_libraries(${target} ${visibility} ${dependency})
  endforeach()
endfunction()

# gradcomp_see_inside(<target> <layer>): the target, which is a test, may include the hidden folders of the layer.
function(gradcomp_see_inside target layer)
  target_include_directories(${target} BEFORE PRIVATE
    $<BUILD_INTERFACE:$<TARGET_PROPERTY:gradcomp_${layer},GRADCOMP_INSIDE>>)
endfunction()

# gradcomp_include_root(<layer> [hidden folder...]): the layer's include root, and one without the hidden folders for others.
function(gradcomp_include_root name)
  set(sources ${PROJECT_SOURCE_DIR}/src/gradcomp/${name})
  set(inside ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${inside}/gradcomp)
  file(CREATE_LINK ${sources} ${inside}/gradcomp/${name} SYMBOLIC)
  set(outside ${inside})
  if(ARGN)
    set(outside ${PROJECT_BINARY_DIR}/include/${name}_for_others)
    file(REMOVE_RECURSE ${outside})
    file(MAKE_DIRECTORY ${outside}/gradcomp/${name})
    file(GLOB entries LIST_DIRECTORIES true RELATIVE ${sources} CONFIGURE_DEPENDS ${sources}/*)
    list(REMOVE_ITEM entries ${ARGN})
    foreach(entry ${entries})
      file(CREATE_LINK ${sources}/${entry} ${outside}/gradcomp/${name}/${entry} SYMBOLIC)
    endforeach()
  endif()
  set_target_properties(gradcomp_${name} PROPERTIES GRADCOMP_INSIDE ${inside})
  gradcomp_see_inside(gradcomp_${name} ${name})
  target_include_directories(gradcomp_${name} PUBLIC $<BUILD_INTERFACE:${outside}>)
endfunction()

# gradcomp_layer(<folder> [NO_CONTRACT | LIGHT] [EXCEPT source...] [HIDDEN folder...] [DEPENDS layer... or target...]
#                [USES layer... or target...])
# DEPENDS: layers that its headers include; its sources may, too. USES: layers that only its sources include. HIDDEN: folders
# that other layers cannot include from. With SOURCES source..., a layer of these sources in the folder of another one.
function(gradcomp_layer name)
  cmake_parse_arguments(arg "NO_CONTRACT;LIGHT" "" "SOURCES;EXCEPT;HIDDEN;DEPENDS;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gradcomp/${name}/*.cpp)
  list(APPEND sources ${arg_SOURCES})
  list(REMOVE_ITEM sources ${arg_EXCEPT})
  gradcomp_device_sources(sources)
  if(NOT sources)
    set(sources ${PROJECT_BINARY_DIR}/pch.cpp)
  endif()
  add_library(gradcomp_${name} STATIC ${sources})
  if(EXISTS ${PROJECT_SOURCE_DIR}/src/gradcomp/${name})
    gradcomp_include_root(${name} ${arg_HIDDEN})
  endif()
  target_link_libraries(gradcomp_${name} PUBLIC Kokkos::kokkos)
  set(pch pch)
  if(arg_NO_CONTRACT) # bytes must agree between devices: docs/concepts.md
    set(pch pch_nocontract)
  elseif(arg_LIGHT)
    set(pch pch_light)
  endif()
  gradcomp_use_pch(gradcomp_${name} ${pch})
  set_target_properties(gradcomp_${name} PROPERTIES GRADCOMP_PCH ${pch})
  gradcomp_link(gradcomp_${name} PUBLIC ${arg_DEPENDS})
  gradcomp_link(gradcomp_${name} PRIVATE ${arg_USES})
endfunction()

# gradcomp_program(<name> <folder with main.cpp> [DEPENDS ...])
function(gradcomp_program name folder)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE gradcomp ${arg_DEPENDS})
  gradcomp_use_pch(${name} pch_light)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(NOT TARGET programs) # what ./run demo builds: everything but the tests
    add_custom_target(programs)
  endif()
  add_dependencies(programs ${name})
  if(GRADCOMP_ENABLE_INSTALL)
    install(TARGETS ${name} RUNTIME COMPONENT programs)
  endif()
endfunction()

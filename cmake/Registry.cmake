# Writes the registry of compressors from the folder: one call per compressors/<name>.cpp, each of which defines
# `gradcomp::Entry gradcomp::compressors::<name>()`. No self-registering statics: a linker drops them from an archive.
file(GLOB compressor_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/gradcomp/compressors/*.cpp)
set(declarations "")
set(calls "")
foreach(source ${compressor_sources})
  get_filename_component(name ${source} NAME_WE)
  string(APPEND declarations "Entry ${name}();\n")
  string(APPEND calls "        compressors::${name}(),\n")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/registry.cpp.in ${CMAKE_BINARY_DIR}/generated/registry.cpp @ONLY)
target_sources(gradcomp_compressors PRIVATE ${CMAKE_BINARY_DIR}/generated/registry.cpp)

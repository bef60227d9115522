# A component is what another project links: an interface target gradcomp::<name> over some layers, with their public
# headers. The targets have the same names in this tree, so that find_package and add_subdirectory are used in the same way.
include(GNUInstallDirs)
set(GRADCOMP_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/gradcomp)

# gradcomp_component(<name> [NEEDS component] LAYERS layer... HEADERS header...)
function(gradcomp_component name)
  cmake_parse_arguments(arg "" "NEEDS" "LAYERS;HEADERS" ${ARGN})
  set(target gradcomp_component_${name})
  list(TRANSFORM arg_LAYERS PREPEND gradcomp_)
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/src/gradcomp/)
  add_library(${target} INTERFACE)
  add_library(gradcomp::${name} ALIAS ${target})
  target_link_libraries(${target} INTERFACE ${arg_LAYERS})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${arg_HEADERS})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(arg_NEEDS)
    target_link_libraries(${target} INTERFACE gradcomp_component_${arg_NEEDS})
  endif()
  foreach(layer ${arg_LAYERS}) # gradcomp::layer_<name>: no name to rely on
    string(REPLACE gradcomp_ layer_ exported ${layer})
    set_target_properties(${layer} PROPERTIES EXPORT_NAME ${exported})
  endforeach()
  if(GRADCOMP_ENABLE_INSTALL)
    install(TARGETS ${target} ${arg_LAYERS} EXPORT gradcomp-${name}
      ARCHIVE COMPONENT development FILE_SET HEADERS COMPONENT development)
    install(EXPORT gradcomp-${name} NAMESPACE gradcomp:: FILE gradcomp-${name}.cmake
      DESTINATION ${GRADCOMP_CMAKE_FOLDER} COMPONENT development)
  endif()
endfunction()

# The one place where a version becomes code: project version and git hash, written to <gradcomp/core/version_config.hpp>.
# The hash is read at every build and not only at configure, so that results never have an old one.
set(GRADCOMP_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version_config.hpp.in
               ${GRADCOMP_GENERATED_DIR}/gradcomp/core/version_config.hpp)
add_custom_target(gradcomp_git_version
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
          -DOUTPUT=${GRADCOMP_GENERATED_DIR}/gradcomp/core/git_version.hpp
          -P ${CMAKE_CURRENT_LIST_DIR}/git_version.cmake
  BYPRODUCTS ${GRADCOMP_GENERATED_DIR}/gradcomp/core/git_version.hpp
  COMMENT "Reading the git version" VERBATIM)

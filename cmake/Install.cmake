# Installs everything except the programs (Layers.cmake) and the components (Components.cmake): the CMake package, the Python
# tools and the texts. No installed file names a folder of the build: the tree can be moved (tests/install).
include(CMakePackageConfigHelpers)

set(config ${PROJECT_BINARY_DIR}/package)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/gradcompConfig.cmake.in ${config}/gradcompConfig.cmake
  INSTALL_DESTINATION ${GRADCOMP_CMAKE_FOLDER} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change a contract.
write_basic_package_version_file(${config}/gradcompConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${config}/gradcompConfig.cmake ${config}/gradcompConfigVersion.cmake
  DESTINATION ${GRADCOMP_CMAKE_FOLDER} COMPONENT development)

# The tools that read files or builds of the user. Tools that measure for a page of docs/ are not installed.
# Each starts its module through tools/run.d/module, which finds the package beside tools/, wherever a link in bin/ lies.
if(GRADCOMP_ENABLE_PYTHON)
  set(tools ${CMAKE_INSTALL_DATADIR}/gradcomp/tools)
  set(package ${CMAKE_INSTALL_DATADIR}/gradcomp/python/gradcomp)
  foreach(part datasets gate output report results)
    install(DIRECTORY python/gradcomp/${part} DESTINATION ${package} COMPONENT tools PATTERN __pycache__ EXCLUDE
      PATTERN results.schema.json EXCLUDE) # a link to the file of docs/
  endforeach()
  foreach(module __init__ errors guarded json_files npy_files places start)
    install(FILES python/gradcomp/${module}.py DESTINATION ${package} COMPONENT tools)
  endforeach()
  install(FILES docs/results.schema.json DESTINATION ${package}/results COMPONENT tools)
  install(PROGRAMS tools/run.d/module DESTINATION ${tools}/run.d COMPONENT tools)
  foreach(tool compare datasets report)
    set(script ${tool})
    if(tool STREQUAL "compare")
      set(script gradcomp-compare)
    endif()
    install(PROGRAMS tools/${script} DESTINATION ${tools} COMPONENT tools)
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_DATADIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE data)
    file(MAKE_DIRECTORY ${config}/bin)
    file(CREATE_LINK ${data}/gradcomp/tools/${script} ${config}/bin/gradcomp-${tool} SYMBOLIC)
    install(FILES ${config}/bin/gradcomp-${tool} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endforeach()
endif()

install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT programs)
include(Package)

# `cpack -G DEB` in a build folder: one Debian package of all that is installed (docs/install.md).
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_PACKAGE_NAME gradcomp)
set(CPACK_PACKAGE_VENDOR "gradcomp")
set(CPACK_PACKAGE_CONTACT "gradcomp developers <gradcomp@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# dpkg-shlibdeps (package dpkg-dev) reads the libraries that the programs need out of the programs themselves.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What the Python tools need, mpirun, and what a project that links the libraries must find.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "python3-numpy, python3-scipy, python3-pandas, python3-matplotlib, python3-jinja2, mpi-default-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libkokkos-dev (>= 5.0), libfmt-dev, libopenblas-dev, mpi-default-dev, python3-sklearn")
include(CPack)

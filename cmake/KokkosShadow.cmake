# Debian's Kokkos has the headers of its GPU back ends, but is configured only for OpenMP. This makes copies of the installed
# configuration headers with a GPU back end enabled. If they come before the installed ones on the include path, kernels can be
# compiled for that back end. They cannot be linked, because its compiled parts are missing.
#
# kokkos_shadow(<directory> <CUDA|HIP> <OPENMP|SERIAL> <other KOKKOS_... to define>...) sets KOKKOS_HEADER_DIR.
function(kokkos_shadow directory device host)
  find_path(KOKKOS_HEADER_DIR Kokkos_Core.hpp PATH_SUFFIXES kokkos REQUIRED)
  file(READ ${KOKKOS_HEADER_DIR}/KokkosCore_config.h config)
  string(REGEX REPLACE "#define (KOKKOS_ENABLE_(OPENMP|SERIAL))\n" "/* #undef \\1 */\n" config "${config}")
  foreach(macro KOKKOS_ENABLE_${device} KOKKOS_ENABLE_${host} ${ARGN})
    string(FIND "${config}" "/* #undef ${macro} */" position)
    if(position EQUAL -1)
      message(FATAL_ERROR "kokkos_shadow: no line '#undef ${macro}' in ${KOKKOS_HEADER_DIR}/KokkosCore_config.h")
    endif()
    string(REPLACE "/* #undef ${macro} */" "#define ${macro}" config "${config}")
  endforeach()
  file(CONFIGURE OUTPUT ${directory}/KokkosCore_config.h CONTENT "${config}" @ONLY)

  file(READ ${KOKKOS_HEADER_DIR}/desul/atomics/Config.hpp config)
  string(REPLACE "/* #undef DESUL_ATOMICS_ENABLE_${device} */" "#define DESUL_ATOMICS_ENABLE_${device}" config "${config}")
  file(CONFIGURE OUTPUT ${directory}/desul/atomics/Config.hpp CONTENT "${config}" @ONLY)

  set(name HIP)
  if(device STREQUAL "CUDA")
    set(name Cuda)
  endif()
  file(CONFIGURE OUTPUT ${directory}/KokkosCore_Config_SetupBackend.hpp
       CONTENT "#include <setup/Kokkos_Setup_${name}.hpp>\n")
  foreach(kind Declare Fwd)
    string(TOLOWER ${kind} folder)
    string(REPLACE "declare" "decl" folder ${folder})
    file(CONFIGURE OUTPUT ${directory}/KokkosCore_Config_${kind}Backend.hpp CONTENT
      "#include <${folder}/Kokkos_${kind}_${host}.hpp>\n#include <${folder}/Kokkos_${kind}_${device}.hpp>\n")
  endforeach()
endfunction()

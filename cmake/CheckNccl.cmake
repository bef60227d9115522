# Checks the transport over NCCL or RCCL against the real library: it is compiled with the library's header, and the library
# must export every function that the object files call. A link would check more, but it needs a complete Kokkos for the device.

# gradcomp_check_nccl(<target with the object files> <nccl or rccl>): the target check_nccl, built with all.
function(gradcomp_check_nccl target library)
  find_library(GRADCOMP_NCCL_LIBRARY ${library} HINTS ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES} REQUIRED)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/nccl_symbols.txt
    COMMAND ${CMAKE_COMMAND} "-DOBJECTS=$<JOIN:$<TARGET_OBJECTS:${target}>,|>" -DLIBRARY=${GRADCOMP_NCCL_LIBRARY}
            -DNM=${CMAKE_NM} -DOUTPUT=${CMAKE_BINARY_DIR}/nccl_symbols.txt -P ${CMAKE_SOURCE_DIR}/cmake/nccl_symbols.cmake
    DEPENDS ${target} $<TARGET_OBJECTS:${target}> ${CMAKE_SOURCE_DIR}/cmake/nccl_symbols.cmake
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(check_nccl ALL DEPENDS ${CMAKE_BINARY_DIR}/nccl_symbols.txt)
endfunction()

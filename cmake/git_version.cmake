cmake_minimum_required(VERSION 3.25)
# Script: writes OUTPUT with the git hash of SOURCE and whether the work tree differs from it; touches it only on change.
# Files that measurements write are not sources.
set(hash unknown)
set(dirty false)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -c safe.directory=* -C ${SOURCE} rev-parse --short=12 HEAD
                  OUTPUT_VARIABLE out RESULT_VARIABLE rc ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(rc EQUAL 0)
    set(hash ${out})
    execute_process(COMMAND ${GIT} -c safe.directory=* -C ${SOURCE} status --porcelain -- .
                            :!docs/results :!docs/rates :!docs/images :!docs/reliability.md
                    OUTPUT_VARIABLE out ERROR_QUIET)
    if(NOT out STREQUAL "")
      set(dirty true)
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"#pragma once
#define GRADCOMP_GIT_HASH \"@hash@\"
#define GRADCOMP_GIT_DIRTY @dirty@
")

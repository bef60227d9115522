# For scripts that check how a job of three ranks ends: sets `output` to what PROGRAM printed in its CASE, and `lines` to the
# lines of it that begin with "<prefix>: ". Only the case "ok" may end with status 0.
function(run_case prefix)
  execute_process(COMMAND ${LAUNCHER} ${RANKS_FLAG} 3 ${PROGRAM} ${CASE}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 50)
  if((CASE STREQUAL "ok") AND NOT (status EQUAL 0))
    message(FATAL_ERROR "status ${status}, expected 0:\n${output}")
  elseif(NOT (CASE STREQUAL "ok") AND NOT (status MATCHES "^[1-9][0-9]*$"))
    message(FATAL_ERROR "status ${status}, expected a non-zero number:\n${output}")
  endif()
  string(REPLACE ";" "," output "${output}") # CMake's own separator
  string(REGEX MATCHALL "${prefix}: [^\n]*" lines "${output}")
  set(output "${output}" PARENT_SCOPE)
  set(lines "${lines}" PARENT_SCOPE)
endfunction()

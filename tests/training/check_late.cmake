# Runs PROGRAM (late_program.cpp) on two ranks. It must end with a status other than 0 and print one line of its own. If the
# other rank is killed, the launcher may report this first.
execute_process(COMMAND ${LAUNCHER} ${RANKS_FLAG} 2 ${PROGRAM} ${STRATEGY} ${TROUBLE} ${METHODS}
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 50)
string(REGEX MATCHALL "late: [^\n]*" lines "${output}")
set(gone 1)
set(other 0)
if(STRATEGY MATCHES "dedicated=on")
  set(gone 0)
  set(other 1)
endif()
list(FILTER lines EXCLUDE REGEX "on rank ${gone}: ") # one that had stopped, and is woken by the launcher to be ended
set(waited "mpi(.host-staged.)?: a call of [a-z]+ did not end|strategy servers: (an answer|a push|a worker's last push) did not arrive|strategy priority: no bucket arrived")
if(NOT (status MATCHES "^[1-9][0-9]*$"))
  message(FATAL_ERROR "status ${status}, expected a non-zero number:\n${output}")
elseif(TROUBLE STREQUAL "killed" AND "${lines}" STREQUAL "")
  return()
elseif(NOT "${lines}" MATCHES "^late: error: on rank ${other}: (${waited}) within 1 s; a peer is gone or hangs$")
  message(FATAL_ERROR "printed '${lines}', expected one line about the limit:\n${output}")
endif()

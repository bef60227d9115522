cmake_minimum_required(VERSION 3.25)
# Script: compiles SOURCE, written here with `#include "HEADER"`, with the include directories FOLDERS (separated by |).
# EXPECTED: found, it must compile; missing, it must not, because the header is not found.
file(WRITE ${SOURCE} "#include \"${HEADER}\"\nint main() {}\n")
string(REPLACE "|" ";" folders "${FOLDERS}")
list(TRANSFORM folders PREPEND -I)
# Headers are only looked for: what else a layer is compiled with does not matter.
execute_process(COMMAND ${COMPILE} -M ${folders} ${SOURCE}
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE errors)
if(EXPECTED STREQUAL "found")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${HEADER} should be found:\n${errors}")
  endif()
elseif(EXPECTED STREQUAL "missing")
  if(status EQUAL 0)
    message(FATAL_ERROR "${HEADER} is found, but the layer does not declare where it is from: a wrong inclusion compiles")
  elseif(NOT errors MATCHES "${HEADER}: No such file|'${HEADER}' file not found")
    message(FATAL_ERROR "the compiler fails for another reason than that ${HEADER} is not found:\n${errors}")
  endif()
else()
  message(FATAL_ERROR "EXPECTED is '${EXPECTED}'; allowed: found, missing")
endif()
message("layers: ${HEADER} is ${EXPECTED}, as it should be")

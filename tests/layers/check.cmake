cmake_minimum_required(VERSION 3.25)
# Script: writes SOURCE with `#include "HEADER"` and compiles it with the include directories FOLDERS (separated by |).
# EXPECTED is `found` if it must compile, or `missing` if the header must not be found.
file(WRITE ${SOURCE} "#include \"${HEADER}\"\nint main() {}\n")
string(REPLACE "|" ";" folders "${FOLDERS}")
list(TRANSFORM folders PREPEND -I)
# Only the search for headers is tested, so other flags of the layer do not matter.
execute_process(COMMAND ${COMPILE} -M ${folders} ${SOURCE}
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE errors)
if(EXPECTED STREQUAL "found")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${HEADER} should be found:\n${errors}")
  endif()
elseif(EXPECTED STREQUAL "missing")
  if(status EQUAL 0)
    message(FATAL_ERROR "${HEADER} is found, but the layer does not declare the layer of this header")
  elseif(NOT errors MATCHES "${HEADER}: No such file|'${HEADER}' file not found")
    message(FATAL_ERROR "the compiler fails for another reason than a missing ${HEADER}:\n${errors}")
  endif()
else()
  message(FATAL_ERROR "EXPECTED is '${EXPECTED}'; allowed: found, missing")
endif()
message("layers: ${HEADER} is ${EXPECTED}, as it should be")

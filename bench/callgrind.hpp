#pragma once
// Instruction counts: if the program runs under valgrind --tool=callgrind --collect-atstart=no, the work between these
// two calls is counted, and the count goes to a file of its own with the name of the case. Otherwise both do nothing.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_TOGGLE_COLLECT
#define CALLGRIND_DUMP_STATS_AT(name) static_cast<void>(name)
#endif

namespace gradcomp::bench {

inline void begin_instructions() {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
}

inline void end_instructions(const char* name) {
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(name);
}

}  // namespace gradcomp::bench

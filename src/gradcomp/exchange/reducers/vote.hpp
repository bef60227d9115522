#pragma once
// vote: majority of signs, in two hops. Rank r owns the r-th part of the sign words. It receives this part from all
// ranks and counts, and all ranks receive the words of the outcome. out = -1 if more than half of the ranks have the
// bit set, and +1 if fewer; the method decides ties (detail/ties.hpp). Each rank sends about n / 8 bytes in each hop
// for any number of ranks; with the reducer allgather it receives n / 8 bytes from every rank.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry vote();
}

#pragma once
// vote: signs by majority, in two hops. Rank r owns the r-th part of the sign words: it receives that part from all
// ranks, counts, and all receive the words of the outcome. out = -1 where more than half of the ranks have the bit,
// else +1; ties as the method says (ties.hpp). Each rank sends about n / 8 bytes in each hop, whatever the number of
// ranks; with reducer allgather it receives n / 8 from every rank.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry vote();
}

#pragma once
// local: no communication. Every rank's reduction is its own message; no exchange can be faster than this bound. It is
// the only reducer whose results (mean and flag) differ between ranks.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry local();
}

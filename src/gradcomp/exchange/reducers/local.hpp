#pragma once
// local: no communication. Every rank's reduction is its own message: the bound that no exchange can beat in time.
// The one reducer whose results (mean and flag) differ between ranks.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp::reducers {
ReducerEntry local();
}

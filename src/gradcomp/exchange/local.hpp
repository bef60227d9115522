#pragma once
// local: no communication. Every rank's reduction is its own message: the bound that no exchange can beat in time.
// The one reducer whose results (mean and flag) differ between ranks.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

std::unique_ptr<Reducer> make_local(const Options& common, const Compressor& compressor, const Layout& layout,
                                    Communicator& comm);

}  // namespace gradcomp

#pragma once
// allreduce: one to three summable rounds, each one allreduce: dense, linear and low-rank methods.
#include "gradcomp/exchange/reducer.hpp"

namespace gradcomp {

std::unique_ptr<Reducer> make_allreduce(const Options& common, const Compressor& compressor, const Layout& layout,
                                        Communicator& comm);

}  // namespace gradcomp

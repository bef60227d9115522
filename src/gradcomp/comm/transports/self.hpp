#pragma once
// self: one rank, without MPI. Collective calls are copies; a message arrives where this rank receives it.
#include "gradcomp/comm/registry.hpp"

namespace gradcomp {

std::unique_ptr<Transport> make_self();

namespace transports {
/// `owned`: nothing.
TransportEntry self();
}  // namespace transports

}  // namespace gradcomp

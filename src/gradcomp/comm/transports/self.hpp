#pragma once
// self: one rank, without MPI. Collective calls are copies. The rank can send messages to itself.
#include "gradcomp/comm/registry.hpp"

namespace gradcomp {

std::unique_ptr<Transport> make_self();

namespace transports {
/// `owned`: nothing.
TransportEntry self();
}  // namespace transports

}  // namespace gradcomp

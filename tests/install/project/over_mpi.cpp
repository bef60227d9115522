// One step of an exchange with the user's own method over MPI. All elements of a rank's gradient are its number, so
// that the mean is known.
#include <mpi.h>

#include <cstdio>
#include <gradcomp/comm/mpi_session.hpp>
#include <gradcomp/comm/transports/mpi.hpp>
#include <gradcomp/core/registration.hpp>
#include <gradcomp/exchange/exchange.hpp>
#include <gradcomp/method/spec.hpp>

#include "coarse.hpp"

using namespace gradcomp;

int main(int argc, char** argv) {
  return run_mpi_program("over_mpi", argc, argv, [&](const MpiSession& session) {
    const Kokkos::ScopeGuard kokkos;
    register_entry(coarse());
    constexpr index_t n = 64;
    const Exec exec;
    Vector<float> gradient("gradient", n), mean("mean", n);
    Kokkos::deep_copy(gradient, static_cast<float>(session.rank()));

    const auto transport = make_transport("mpi", MPI_COMM_WORLD);
    const auto exchange = make_exchange(parse_method("coarse"), Layout::flat(n), *transport, ExchangeOptions{});
    const Context context{1, 0, session.rank(), session.size()};  // the step 0 of seed 1
    exchange->begin(exec, gradient, mean, context, nullptr);
    exchange->gradient_ready(exec, 0);
    exchange->finish(exec);

    const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), mean);
    const float expected = 0.5f * static_cast<float>(session.size() - 1);
    std::printf("rank %d of %d: mean %g\n", session.rank(), session.size(), static_cast<double>(got(n - 1)));
    return got(0) == expected && got(n - 1) == expected && !exchange->diverged() ? 0 : 1;
  });
}

// Registers the method, compresses one gradient with it, and checks that decoded + remembered = gradient, without MPI;
// and that a gradient that is not finite is an error.
#include <cstdio>
#include <gradcomp/core/registration.hpp>
#include <gradcomp/exchange/one_rank.hpp>
#include <gradcomp/method/spec.hpp>

#include "coarse.hpp"

using namespace gradcomp;

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  register_entry(coarse());
  bool late = false, diverged = false;

  constexpr index_t n = 1000;
  const Exec exec;
  Kokkos::View<float*, Kokkos::HostSpace> values("values", n);
  for (index_t i = 0; i < n; ++i) values(i) = 0.001f * static_cast<float>(i - n / 2);
  Vector<float> gradient("gradient", n);
  Kokkos::deep_copy(gradient, values);

  OneRank worker(parse_method("coarse"), Layout::flat(n));
  worker.forget(exec);
  worker.compress(exec, gradient);
  worker.decompress(exec);
  const auto decoded = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), worker.out());
  const auto memory = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), worker.memory());
  index_t wrong = 0;
  for (index_t i = 0; i < n; ++i) wrong += decoded(i) + memory(i) == values(i) ? 0 : 1;

  Kokkos::deep_copy(gradient, Kokkos::Experimental::infinity_v<float>);
  worker.compress(exec, gradient);
  try {
    worker.decompress(exec);
  } catch (const Error& error) {
    diverged = true;
  }
  try {
    register_entry(coarse());
  } catch (const Error& error) {
    late = true;
  }
  std::printf("coarse among %zu methods: %lld bytes, %lld wrong\n", all_entries().size(),
              static_cast<long long>(worker.payload_bytes()), static_cast<long long>(wrong));
  return wrong == 0 && worker.payload_bytes() == n && all_entries().size() > 20 && late && diverged ? 0 : 1;
}

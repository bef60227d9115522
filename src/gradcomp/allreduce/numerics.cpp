#include "gradcomp/allreduce/numerics.hpp"

#include <cmath>
#include <string>

#include "gradcomp/kernels/quantise/casts.hpp"
#include "gradcomp/kernels/random/threefry.hpp"

namespace gradcomp {
namespace numerics {

constexpr index_t simulated_elements = 1 << 14;
constexpr int levels = 31;  ///< of partial sums: more ranks than an int counts

/// Element i of the gradient of the rank whose stream has this key.
KOKKOS_INLINE_FUNCTION float laplace(const Array4& key, index_t i) {
  const Array4 draw = threefry4x32_12(key, stream_counter(i, random_stream::sampling, 0));
  const float magnitude = -Kokkos::log(uniform24(draw.x0) + 0x1p-25f);
  return (draw.x1 & 1u) != 0 ? magnitude : -magnitude;
}

/// The nearest value of a format.
struct Single {
  KOKKOS_INLINE_FUNCTION static float nearest(float x) { return x; }
};
template <class Format>
struct Narrow {
  KOKKOS_INLINE_FUNCTION static float nearest(float x) { return Format::decode(Format::encode(x)); }
};

/// Sums in 32 bits, one term after the other, rounded at the end.
template <class Format>
struct Once {
  template <class Term>
  KOKKOS_INLINE_FUNCTION static float sum(int ranks, int, const Term& term) {
    float partial = term(0);
    for (int r = 1; r < ranks; ++r) partial += term(r);
    return Format::nearest(partial);
  }
};

/// Partial sums go round a ring from rank `first` on, rounded in every hop.
template <class Format>
struct Ring {
  template <class Term>
  KOKKOS_INLINE_FUNCTION static float sum(int ranks, int first, const Term& term) {
    float partial = term(first);
    for (int hop = 1; hop < ranks; ++hop) partial = Format::nearest(partial + term((first + hop) % ranks));
    return partial;
  }
};

/// Neighbours add, then pairs of neighbours, and so on; every partial sum is rounded. `ranks` is a power of two.
template <class Format>
struct Doubling {
  template <class Term>
  KOKKOS_INLINE_FUNCTION static float sum(int ranks, int, const Term& term) {
    float waiting[levels];  // one partial sum of each length 1, 2, 4, .. that waits for its neighbour
    for (int r = 0; r < ranks; ++r) {
      float partial = term(r);
      int level = 0;
      for (int done = r; (done & 1) != 0; done >>= 1, ++level) partial = Format::nearest(waiting[level] + partial);
      waiting[level] = partial;
    }
    int last = 0;
    while ((1 << last) < ranks) ++last;
    return waiting[last];
  }
};

}  // namespace numerics

void fill_laplace(const Exec& exec, const Span<float>& x, std::uint64_t seed, int rank) {
  const Array4 key = stream_key(seed, 0, 0, static_cast<std::uint32_t>(rank));
  Kokkos::parallel_for(
      "gradcomp::exchange::fill_laplace", IndexRange(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(const index_t i) { x(i) = numerics::laplace(key, i); });
}

namespace numerics {

template <class Format, class Order>
double error_of_sums(const Exec& exec, int ranks, std::uint64_t seed) {
  double difference = 0, norm = 0;
  Kokkos::parallel_reduce(
      "gradcomp::exchange::error_of_sums", IndexRange(exec, 0, simulated_elements),
      KOKKOS_LAMBDA(const index_t i, double& d, double& n) {
        const auto gradient = [&](int r) { return laplace(stream_key(seed, 0, 0, static_cast<std::uint32_t>(r)), i); };
        const float share = 1.0f / static_cast<float>(ranks);
        double exact = 0;
        for (int r = 0; r < ranks; ++r) exact += static_cast<double>(gradient(r));
        exact /= ranks;
        const int first = static_cast<int>(i * ranks / simulated_elements);
        const float mean = Order::sum(ranks, first, [&](int r) { return Format::nearest(gradient(r) * share); });
        d += (static_cast<double>(mean) - exact) * (static_cast<double>(mean) - exact);
        n += exact * exact;
      },
      difference, norm);
  return std::sqrt(difference / norm);
}

namespace {

using Simulation = double (*)(const Exec&, int, std::uint64_t);

template <class Format>
Simulation simulation(const std::string& reducer) {
  if (reducer == "rank_order") return error_of_sums<Format, Once<Format>>;
  if (reducer == "ring") return error_of_sums<Format, Ring<Format>>;
  if (reducer == "recursive_doubling") return error_of_sums<Format, Doubling<Format>>;
  return nullptr;
}

Simulation simulation_of(const MethodSpec& method) {
  const std::string& name = method.compressor->info().name;
  const std::string& reducer = method.common.text("reducer");
  if (name == "fp32") return simulation<Single>(reducer);
  if (name == "fp16") return simulation<Narrow<kernels::Half>>(reducer);
  if (name == "bf16") return simulation<Narrow<kernels::Bfloat>>(reducer);
  return nullptr;
}

}  // namespace
}  // namespace numerics

std::optional<double> simulated_error(const Exec& exec, const MethodSpec& method, int ranks, std::uint64_t seed) {
  const numerics::Simulation simulate = numerics::simulation_of(method);
  return simulate == nullptr ? std::nullopt : std::optional<double>(simulate(exec, ranks, seed));
}

}  // namespace gradcomp

// Prints the results of SIDCo's fits to the magnitudes in a file of float32 values: sums, and then a threshold for each
// distribution and share. sidco_scipy.py compares them with SciPy.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "gradcomp/compressors/detail/sparse/sidco_fits.hpp"
#include "gradcomp/kernels/select/moments.hpp"

using namespace gradcomp;

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Vector<float> values("values", bytes.size() / sizeof(float));
  Kokkos::deep_copy(values, HostSpan<const float>(reinterpret_cast<const float*>(bytes.data()), values.size()));
  const kernels::Tiles tiles(Layout::flat(static_cast<index_t>(values.size())));
  kernels::FirstPass pass(tiles, kernels::Statistics::logs);
  Source source;
  source.count = static_cast<index_t>(values.size());
  source.gradient = values.data();
  pass.run(Exec(), tiles, source);
  const kernels::Moments& m = pass.moments()[0];
  std::printf("moments %lld %.17g %.17g %.17g %.17g\n", static_cast<long long>(m.nonzeros), m.sum, m.sum_abs,
              m.sum_squares, m.sum_logs);
  const double n = static_cast<double>(m.nonzeros);
  const compressors::SampleMeans means{m.sum_abs / n, m.sum_squares / n, m.sum_logs / n};
  for (const char* name : {"exponential", "gamma", "pareto"}) {
    for (const double q : {0.25, 0.1, 0.01, 0.001}) {
      std::printf("%s %g %.17g\n", name, q,
                  compressors::tail_quantile(compressors::distribution_from_name(name), means, q));
    }
  }
  for (const double q : {0.25, 0.1, 0.01, 0.001}) {
    std::printf("paper_gamma %g %.17g\n", q, compressors::paper_gamma_quantile(means, q));
  }
}

// Any number of threads must give the same bits. Every case writes a hash of its messages and results as a line of the
// file that the environment variable GRADCOMP_CONFORMANCE_HASHES names. CTest compares the files of runs with 1 and 2
// threads.
#include <cstdlib>
#include <fstream>

#include "conformance/cases.hpp"
#include "conformance/simulated_rank.hpp"

namespace gradcomp::conformance {
namespace hash_test {

std::uint64_t hash(std::uint64_t start, const void* data, std::size_t bytes) {  // FNV-1a
  const auto* p = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) start = (start ^ p[i]) * 1099511628211u;
  return start;
}

std::uint64_t hash_steps(const MethodSpec& method, const Layout& layout, const std::string& values) {
  std::uint64_t h = 14695981039346656037u;
  auto ranks = make_ranks(method, layout, 2);
  for (int step = 0; step < 2; ++step) {
    set_gradients(ranks, values, 91);
    const StepResult done = run_step(ranks, step);
    for (std::size_t w = 0; w < ranks.size(); ++w) {
      h = hash(h, done.messages[w].data(), done.messages[w].size());
      h = hash(h, done.out[w].data(), done.out[w].size() * sizeof(float));
      const auto r = ranks[w].memory();
      h = hash(h, r.data(), r.size() * sizeof(float));
    }
  }
  return h;
}

TEST_P(Conformance, HashesForTheComparisonOfThreadCounts) {
  const char* path = std::getenv("GRADCOMP_CONFORMANCE_HASHES");
  if (path == nullptr) GTEST_SKIP() << "GRADCOMP_CONFORMANCE_HASHES is not set";
  std::ofstream file(path, std::ios::app);
  const auto write = [&](const NamedLayout& layout, const std::string& values) {
    const auto h = hash_steps(method(feedbacks().back()), layout.layout, values);
    file << fmt::format("{} {} {} {:016x}\n", GetParam(), layout.name, values, h);
  };
  for_each_case([&](const NamedLayout& layout, const NamedData& values) { write(layout, values.name); });
  if (is_default()) write(large_layouts().front(), "laplace");
  ASSERT_TRUE(file.good()) << path;
}

}  // namespace hash_test
}  // namespace gradcomp::conformance

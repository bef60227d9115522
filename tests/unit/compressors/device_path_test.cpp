// Searches of thresholds send the same bytes whether the host looks at what kernels wrote or, as on a device, does not
// (Context::host_looks): every variant, and what only some options together reach.
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/sparse_rig.hpp"

namespace gradcomp::compressors {
namespace device_path_test {

using namespace sparse_test;
using Values = std::map<std::string, std::string>;

/// make_input() of two seeds, made once.
const std::vector<float>& input_of(const std::string& name, index_t n, std::int64_t step) {
  static std::map<std::tuple<std::string, index_t, std::int64_t>, std::vector<float>> made;
  auto& values = made[{name, n, step % 2}];
  if (values.empty()) values = make_input(name, n, static_cast<std::uint32_t>(step % 2));
  return values;
}

/// Seven steps of growing and shrinking values, the last one with an infinity or a NaN.
void check(const Entry& entry, const Values& options, const Layout& layout, const std::string& input) {
  Rig looking(entry, options, layout, true), blind(entry, options, layout, true);
  blind.context.host_looks = false;
  std::int64_t step = 0;
  for (const float factor : {1.0f, 0.9f, 0.2f, 0.2f, 50.0f, 1.0f, std::numeric_limits<float>::infinity()}) {
    SCOPED_TRACE(entry.info.name + " " + input + " n=" + std::to_string(layout.count()) + " step " +
                 std::to_string(step));
    auto g = input_of(input, layout.count(), step);
    for (float& v : g) v = std::isfinite(factor) ? v * factor : v;
    if (!g.empty() && !std::isfinite(factor)) g.back() = layout.count() % 2 == 0 ? factor : factor - factor;
    looking.produce(g, step);
    blind.produce(g, step);
    ASSERT_EQ(looking.payload(), blind.payload());
    ASSERT_EQ(looking.state->kept, blind.state->kept);
    ASSERT_EQ(first_difference(looking.residual(), blind.residual()), -1);
    ++step;
  }
}

void check_all(const Entry& entry, const Values& options) {
  for (const index_t n : {0, 1, 1001, 30011})
    for (const auto& input : input_names()) check(entry, options, mixed_layout(n), input);
  check(entry, options, Layout::flat(0), "laplace");
  check(entry, options, Layout::flat(1200007), "laplace");
  check(entry, options, Layout::flat(1200007), "spikes");
}

Values with(Values values, const Values& others) {
  values.insert(others.begin(), others.end());
  return values;
}

TEST(DevicePath, Sidco) {
  for (const char* sid : {"exponential", "pareto", "gamma"})
    for (const char* variant : {"fixed", "paper"})
      for (const char* stages : {"adaptive", "1", "4"})
        check_all(find_entry("sidco"), {{"sid", sid}, {"variant", variant}, {"stages", stages}, {"interval", "2"}});
}

TEST(DevicePath, RedSync) {
  check_all(find_entry("redsync"), {{"ratio", "0.01"}});
  check_all(find_entry("redsync"), {{"ratio", "0.3"}});
  const Values paper = {{"variant", "paper"}, {"interval", "2"}};
  for (const char* search : {"auto", "trimmed", "binary"})
    for (const char* eps : {"0.2", "0.01"})
      check_all(find_entry("redsync"), with(paper, {{"search", search}, {"eps", eps}}));
}

TEST(DevicePath, GaussianK) {
  for (const char* variant : {"fixed", "paper"})
    for (const char* ratio : {"0.01", "0.4"})
      check_all(find_entry("gaussian_k"), {{"variant", variant}, {"ratio", ratio}});
}

TEST(DevicePath, SampledThresholds) {
  for (const char* variant : {"fixed", "paper"}) {
    check_all(find_entry("dgc"), {{"variant", variant}, {"ratio", "0.01"}});
    check_all(find_entry("dgc"), {{"variant", variant}, {"warmup", "quarters"}, {"warmup.steps", "5"}});
    check_all(find_entry("gradient_dropping"), {{"variant", variant}, {"ratio", "0.01"}, {"sample", "2000"}});
  }
}

}  // namespace device_path_test
}  // namespace gradcomp::compressors

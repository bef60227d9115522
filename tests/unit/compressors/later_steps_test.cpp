// What an earlier step keeps for speed (the bound of kernels::Selector) changes no byte.
#include "gradcomp/core/registry.hpp"
#include "unit/compressors/sparse_rig.hpp"

namespace gradcomp::compressors {
namespace later_steps_test {

using namespace sparse_test;

void copy_past(Rig& from, Rig& to) {
  Kokkos::deep_copy(to.memory, from.memory);
  auto source = from.state->memories(), target = to.state->memories();
  for (std::size_t i = 0; i < source.size(); ++i)
    std::memcpy(target[i].data, source[i].data, static_cast<std::size_t>(source[i].bytes));
}

std::vector<float> scaled(std::vector<float> x, float factor) {
  for (float& v : x) v *= factor;
  return x;
}

void check(const Entry& entry, const std::map<std::string, std::string>& options, const std::string& input) {
  const Layout layout = mixed_layout(60000);
  for (const bool residual : {false, true}) {
    Rig rig(entry, options, layout, residual);
    std::int64_t step = 0;
    for (const float factor : {1.0f, 1.0f, 0.9f, 0.2f, 0.2f, 5.0f, 4.8f, 0.0f, 1.0f, 1.0f}) {
      SCOPED_TRACE(entry.info.name + " " + input + " step " + std::to_string(step));
      const auto g = scaled(make_input(input, layout.count(), static_cast<std::uint32_t>(step)), factor);
      Rig fresh(entry, options, layout, residual);
      copy_past(rig, fresh);
      rig.produce(g, step);
      fresh.produce(g, step);
      const Decoded one = rig.decoded(), other = fresh.decoded();
      ASSERT_EQ(one.indices, other.indices);
      ASSERT_EQ(first_difference(one.values, other.values), -1);
      ASSERT_EQ(first_difference(rig.residual(), fresh.residual()), -1);
      ++step;
    }
  }
}

TEST(LaterSteps, GiveTheBytesOfAStateWithoutPast) {
  for (const std::string input : {"laplace", "heavy", "ties", "levels", "sparse", "spikes"}) {
    check(find_entry("top_k"), {{"ratio", "0.01"}}, input);
    check(find_entry("top_k"), {{"ratio", "0.01"}, {"warmup", "quarters"}, {"warmup.steps", "4"}}, input);
    check(find_entry("dgc"), {{"ratio", "0.01"}}, input);
    check(find_entry("dgc"), {{"ratio", "0.01"}, {"variant", "paper"}}, input);
    check(find_entry("gaussian_k"), {{"ratio", "0.01"}}, input);
    check(find_entry("gaussian_k"), {{"ratio", "0.01"}, {"variant", "paper"}}, input);
    check(find_entry("redsync"), {{"ratio", "0.01"}}, input);
    check(find_entry("redsync"), {{"ratio", "0.01"}, {"variant", "paper"}, {"search", "trimmed"}}, input);
    check(find_entry("redsync"), {{"ratio", "0.01"}, {"variant", "paper"}, {"search", "binary"}, {"interval", "2"}},
          input);
    check(find_entry("sidco"), {{"ratio", "0.01"}}, input);
    check(find_entry("gradient_dropping"), {{"ratio", "0.01"}}, input);
    check(find_entry("hard_threshold"), {{"lambda", "4"}}, input);
  }
}

}  // namespace later_steps_test
}  // namespace gradcomp::compressors

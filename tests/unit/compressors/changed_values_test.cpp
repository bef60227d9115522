// A method that sends other values than those of the gradient: Sparsifier::change_values().
#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "unit/compressors/sparse_rig.hpp"

namespace sparse_test {
namespace changed_values_test {

/// Sends the largest entries, each cut to the range -1 to 1.
class ClippedTopK final : public compressors::Sparsifier {
 public:
  using Sparsifier::Sparsifier;
  bool sends_zeros() const override { return true; }
  void search(const Exec&, const Source&, compressors::SparseState&, const Context&) const override {}
  void change_values(const Exec& exec, const std::uint32_t*, float* values, index_t kept,
                     compressors::SparseState&) const override {
    Kokkos::parallel_for(
        "clip", IndexRange(exec, 0, kept),
        KOKKOS_LAMBDA(index_t j) { values[j] = Kokkos::max(-1.0f, Kokkos::min(values[j], 1.0f)); });
  }
};

Entry clipped_top_k() {
  Info info =
      compressors::sparsifier_info("clipped_top_k", "top k, cut to 1", "a test", {compressors::ratio_parameter()});
  info.sends_values = false;
  return make_entry<ClippedTopK>(info);
}

TEST(ChangedValues, AreSentAndTheMemoryKeepsTheRest) {
  for (const index_t n : {0, 1, 31, 5001}) {
    SCOPED_TRACE(n);
    const auto a = make_input("heavy", n);
    Rig plain(find_entry("top_k"), {{"ratio", "0.1"}}, Layout::flat(n), false);
    Rig rig(clipped_top_k(), {{"ratio", "0.1"}}, Layout::flat(n), true);
    plain.produce(a);
    rig.produce(a);
    const auto largest = plain.decoded(), sent = rig.decoded();
    ASSERT_EQ(sent.indices, largest.indices);
    auto rest = a;
    bool cut = false;
    for (std::size_t j = 0; j < sent.indices.size(); ++j) {
      ASSERT_EQ(sent.values[j], std::clamp(largest.values[j], -1.0f, 1.0f));
      rest[sent.indices[j]] = largest.values[j] - sent.values[j];
      cut = cut || rest[sent.indices[j]] != 0;
    }
    EXPECT_TRUE(cut || n < 31) << "no entry above 1 among those sent";
    EXPECT_EQ(rig.residual(), rest);
  }
}

TEST(ChangedValues, PassThroughTheCoderOfValues) {
  const auto a = make_input("heavy", 5001);
  Rig rig(clipped_top_k(), {{"ratio", "0.1"}, {"values", "bf16"}}, Layout::flat(5001), true);
  rig.produce(a);
  const auto mean = rig.decode(1, std::vector<float>(a.size()));
  const auto rest = rig.residual();
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_LE(std::fabs(mean[i]), 1.0f);
    ASSERT_EQ(rest[i], mean[i] == 0 ? a[i] : a[i] - mean[i]);
  }
}

}  // namespace changed_values_test
}  // namespace sparse_test

// top_k: sends exactly the k entries of largest magnitude of each segment (Aji & Heafield, EMNLP 2017; Stich,
// Cordonnier & Jaggi, NeurIPS 2018; Alistarh et al., NeurIPS 2018).
//
// k is always max(1, floor(ratio n)), so the payload has a fixed size. Ties go to the lowest index, and if there are
// too few nonzeros, the first zeros are sent. It is a contraction: ||a - C(a)||^2 <= (1 - k/n) ||a||^2. With a residual
// the memory becomes zero where entries are sent, hence what is sent and what stays add up to a, bit for bit.
//
// Payload: k u32 indices, k f32 values (8 k bytes). Passes: 2 reads and 1 write with the residual; a read to choose in
// the first step, and whenever the threshold has fallen far (kernels/select/top_k.hpp).
#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {

class TopK final : public Sparsifier {
 public:
  using Sparsifier::Sparsifier;

 private:
  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    return std::make_unique<SparseState>(layout, density().ratio(), max_kept(layout), coding(),
                                         kernels::Statistics::largest);
  }
  bool sends_zeros() const override { return true; }
  void search(const Exec&, const Source&, SparseState&, const Context&) const override {}  // keeps the exact top k
};

Entry top_k() {
  Info info = sparsifier_info("top_k", "exactly the k entries of largest magnitude",
                              "Aji & Heafield, EMNLP 2017; Stich et al., NeurIPS 2018; Alistarh et al., NeurIPS 2018",
                              {ratio_parameter()});
  info.bytes_formula = "8 k, k = sum over segments of max(1, floor(ratio n))";
  return make_entry<TopK>(info);
}

}  // namespace gradcomp::compressors

#include "gradcomp/compressors/top_k.hpp"

#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"

namespace gradcomp::compressors {

class TopK final : public Sparsifier {
 public:
  using Sparsifier::Sparsifier;

 private:
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

#include "gradcomp/compressors/top_k.hpp"

#include "gradcomp/compressors/detail/sparsifier.hpp"

namespace gradcomp::compressors {

class TopK final : public Sparsifier {
 public:
  using Sparsifier::Sparsifier;

 private:
  void search(const Exec&, const Source&, SparseState& state, const Context&) const override {
    for (auto& request : state.requests) request.exact = true;  // zeros too, where there are fewer than k nonzeros
  }
};

Entry top_k() {
  Info info = sparsifier_info("top_k", "the k entries of largest magnitude, exactly",
                              "Aji & Heafield, EMNLP 2017; Stich et al., NeurIPS 2018; Alistarh et al., NeurIPS 2018",
                              {ratio_parameter()});
  info.bytes_formula = "8 k, k = sum over segments of max(1, floor(ratio n))";
  return make_entry<TopK>(info);
}

}  // namespace gradcomp::compressors

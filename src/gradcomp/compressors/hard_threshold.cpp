// hard_threshold: sends all entries of magnitude lambda or more; lambda is one constant for all tensors and the whole
// run (Sahu et al., Rethinking gradient sparsification as total error minimization, NeurIPS 2021).
//
// Nothing is estimated and nothing adapts. So lambda is in units of the gradient and must be chosen for the job:
// directly, or by the authors' rule lambda = 1 / (2 sqrt(k_ref)), where k_ref is the number of entries per step that a
// top-k of the same model would send. The count follows the gradient: it falls as training converges, and it is n if
// gradients are large or lambda is too small (8 n bytes, twice the dense size). There is no target density and hence no
// warm-up.
//
// The compressor is absolute: after a step with the residual, max |r| < lambda and ||r||^2 < n lambda^2, however large
// a was. What is sent and what stays add up to a, bit for bit. Magnitudes are compared as bit patterns, which is exact
// for denormals. The distributed version of GRACE compares with the smaller of lambda and the signed maximum, so that
// it sends a tensor of negative values whole; this one does not.
//
// Payload: that of top_k, 8 kept bytes (index= and values= choose other codings: coders/). With another coding than
// values=f32, the memory also keeps the rounding error. Passes: 2 reads and 1 write with the residual; as in top_k, a
// read to choose.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/lanes/lanes.hpp"

namespace gradcomp::compressors {
namespace {

/// The smallest magnitude that is sent; above zero.
float lambda_of(const ParameterValues& options) {
  const auto k = static_cast<double>(options.integer("k_ref"));
  const double lambda = k > 0 ? 0.5 / std::sqrt(k) : options.real("lambda");
  return std::max(static_cast<float>(lambda), std::numeric_limits<float>::denorm_min());
}

void choose_all_above(const Exec& exec, const SparseState& state, std::int32_t threshold, bool host_looks) {
  const Searched all = state.searched();
  kernels::for_few(
      "gradcomp::compressors::choose_all_above", exec, state.segments(), host_looks,
      KOKKOS_LAMBDA(const index_t s) { choose_above(all.selections[s], threshold); });
}

}  // namespace

class HardThreshold final : public Sparsifier {
 public:
  HardThreshold(Info info, const ParameterValues& options)
      : Sparsifier(std::move(info), options, Density()), m_lambda(lambda_of(options)) {}

 private:
  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    constexpr double usual = 0.05;  // sets only the room for candidates: denser tiles are read again
    return std::make_unique<SparseState>(layout, usual, max_kept(layout), coding(), kernels::Statistics::largest);
  }

  void search(const Exec& exec, const Source&, SparseState& state, const Context& context) const override {
    choose_all_above(exec, state, kernels::magnitude(m_lambda) - 1, context.host_looks);  // sends lambda itself too
    std::fill(state.target.begin(), state.target.end(), 0);
  }

  float m_lambda;
};

Entry hard_threshold() {
  Info info = sparsifier_info(
      "hard_threshold", "all entries of magnitude lambda or more; lambda is the same for all tensors",
      "Sahu, Dutta, Abdelmoniem, Banerjee, Canini & Kalnis, NeurIPS 2021",
      {
          Parameter::real("lambda", "0.01", 0, 1000, "smallest magnitude that is sent, in units of the gradient", true),
          Parameter::integer("k_ref", "0", 0, 1000000000,
                             "if above 0, lambda = 1 / (2 sqrt(k_ref)); k_ref is the number of entries of a comparable "
                             "top-k"),
      });
  // no target, no warm-up
  std::erase_if(info.parameters, [](const Parameter& p) { return p.name.starts_with("warmup"); });
  info.scale_free = false;
  info.bytes_formula = "8 kept, kept <= n";
  return make_entry<HardThreshold>(info);
}

}  // namespace gradcomp::compressors

// gaussian_k: top-k by the threshold that a normal distribution would have (Shi, Chu, Cheung & See, Understanding top-k
// sparsification in distributed deep learning, 2019, whose method is GaussianK-SGD).
//
// eta = mean + z std of the signed a, with z = Phi^-1(1 - ratio / 2) and std with n - 1. Entries of both signs with |a|
// > eta are sent. An eta below 0 (the mean is far below 0) counts as 0: all nonzeros are sent.
//
// variant=paper looks at most three times at the count above eta. With fewer than 2 k / 3 entries, eta is halved; with
// more than 4 k / 3, it is multiplied by 1.5. The entries of the last look are sent. One read counts the entries above
// the seven thresholds that can be reached. The factors .5 and 1.5 cycle around the target and do not close in (6.5 k
// of a Laplace gradient at ratio .01). With feedback, a is light-tailed near the threshold: kept / k becomes several at
// .01, and nearly 0 at .001. Nothing bounds it. Since eta contains the mean with its sign, a and -a give different
// sets.
//
// variant=fixed (default) uses eta, with |mean|, as the start of a search by counts (detail/sparse/count_search.hpp):
// at most two reads with eight thresholds each, until 2 k / 3 <= kept <= 4 k / 3. If that does not suffice, up to 2 k
// are sent; if ties leave no threshold, exactly the k largest.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements send exactly k, and so does variant=paper if a sum of squares overflows.
//
// Payload: that of top_k. Passes: 2 reads and 1 write with the residual; 1 or 2 reads to count; as in top_k, 1 read to
// choose if the last threshold does not help.
#include <boost/math/distributions/normal.hpp>
#include <limits>

#include "gradcomp/compressors/detail/sparse/count_search.hpp"
#include "gradcomp/compressors/detail/sparse/sparsifier.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

/// Three looks, after which eta is halved, grows or stays. One read answers all three, because only seven thresholds
/// can be reached.
class ThreeLooks {
 public:
  static constexpr int reads = 1;

  ThreeLooks() = default;
  KOKKOS_INLINE_FUNCTION ThreeLooks(double eta, index_t k) : m_k(k), m_done(false) {
    // A heap: look p is followed by 2 p + 1 (halved) or 2 p + 2 (grown).
    double at[7] = {eta};
    for (int p = 0; p < 3; ++p) at[2 * p + 1] = 0.5 * at[p], at[2 * p + 2] = 1.5 * at[p];
    for (int p = 0; p < 7; ++p) m_reachable[p] = kernels::magnitude(static_cast<float>(at[p]));
  }

  KOKKOS_INLINE_FUNCTION bool done() const { return m_done; }
  KOKKOS_INLINE_FUNCTION kernels::Probes probes() const { return m_done ? kernels::no_probes() : m_reachable; }
  KOKKOS_INLINE_FUNCTION bool enough(index_t count) const { return 3 * count > 4 * m_k; }

  KOKKOS_INLINE_FUNCTION void advance(const kernels::Counts& counts) {
    int p = 0;
    for (int look = 1; look < 3; ++look) {
      if (3 * counts[p] < 2 * m_k) {
        p = 2 * p + 1;
      } else if (3 * counts[p] > 4 * m_k) {
        p = 2 * p + 2;
      }  // otherwise it stays, and the later looks see the same count
    }
    m_threshold = m_reachable[p];
    m_done = true;
  }

  /// The threshold of the last look; -1: none was made.
  KOKKOS_INLINE_FUNCTION std::int32_t threshold() const { return m_threshold; }

 private:
  kernels::Probes m_reachable = kernels::no_probes();
  index_t m_k = 0;
  std::int32_t m_threshold = -1;
  bool m_done = true;
};

struct GaussianState final : SparseState {
  GaussianState(const Layout& bucket, double usual, index_t max_entries, const coders::SparseCoding& coding, bool paper)
      : SparseState(bucket, usual, max_entries, coding, kernels::Statistics::sums, spare_of_searches),
        above(tiles),
        counted("gradcomp::compressors::gaussian_searches", paper ? 0 : layout.segments.size()),
        looks("gradcomp::compressors::gaussian_looks", paper ? layout.segments.size() : 0) {}

  index_t scratch_bytes() const override {
    return SparseState::scratch_bytes() + above.bytes() +
           static_cast<index_t>(counted.size() * sizeof(CountSearch) + looks.size() * sizeof(ThreeLooks));
  }

  kernels::CountAbove above;
  Vector<CountSearch> counted;  ///< [segments], variant=fixed
  Vector<ThreeLooks> looks;     ///< [segments], variant=paper
};

/// mean + z std of the signed values, at least 0. Unless `paper`, the magnitude of the mean is used. Returns -1 if the
/// variance overflowed or z is not finite.
KOKKOS_INLINE_FUNCTION double gaussian_estimate(const kernels::Moments& moments, index_t elements, double z,
                                                bool paper) {
  const double n = static_cast<double>(elements), mean = (paper ? moments.sum : Kokkos::fabs(moments.sum)) / n;
  const double variance = Kokkos::max(0.0, (moments.sum_squares - n * mean * mean) / (n - 1));
  if (!Kokkos::isfinite(z) || !Kokkos::isfinite(variance)) return -1;
  return Kokkos::max(0.0, mean + z * Kokkos::sqrt(variance));
}

constexpr int gaussian_reads = 2;  ///< largest number of reads of variant=fixed

/// The search of an open segment.
KOKKOS_INLINE_FUNCTION void make_search(CountSearch& search, const kernels::Moments& moments, index_t elements,
                                        index_t k, double z) {
  const double eta = gaussian_estimate(moments, elements, z, false);
  const std::int32_t guess = eta < 0 ? -1 : kernels::magnitude(static_cast<float>(eta));
  search = CountSearch({k, (2 * k + 2) / 3, 4 * k / 3, 2 * k, gaussian_reads}, moments, guess, 1);
}

KOKKOS_INLINE_FUNCTION void make_search(ThreeLooks& search, const kernels::Moments& moments, index_t elements,
                                        index_t k, double z) {
  const double eta = gaussian_estimate(moments, elements, z, true);
  if (!(eta < 0)) search = ThreeLooks(eta, k);
}

template <class Search>
void search_all(const Exec& exec, const float* a, const GaussianState& state, const Vector<Search>& searches, double z,
                int reads, bool host_looks) {
  const Searched all = state.searched();
  search_thresholds(
      exec, state.above, state.tiles, a, state.selector.shortlist(state.tiles, state.first), searches, reads,
      host_looks,
      KOKKOS_LAMBDA(const index_t s) {
        searches(s) = Search();
        if (all.open[s] != 0) make_search(searches(s), all.moments[s], all.elements[s], all.selections[s].k, z);
      },
      KOKKOS_LAMBDA(const index_t s) {
        if (searches(s).threshold() >= 0) choose_above(all.selections[s], searches(s).threshold());
      });
}

}  // namespace

class GaussianK final : public Sparsifier {
 public:
  GaussianK(Info info, const ParameterValues& options)
      : Sparsifier(std::move(info), options), m_paper(this->options().text("variant") == "paper") {}

 private:
  index_t max_entries(double density, const Segment& segment) const override {
    return max_sent(density, segment.count, m_paper);
  }

  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    return std::make_unique<GaussianState>(layout, density().ratio(), max_kept(layout), coding(), m_paper);
  }

  void search(const Exec& exec, const Source& source, SparseState& state, const Context& context) const override {
    const auto& own = static_cast<const GaussianState&>(state);
    const float* const a = source.accumulated();
    const double z = quantile(own.density);
    if (m_paper) {
      search_all(exec, a, own, own.looks, z, ThreeLooks::reads, context.host_looks);
    } else {
      search_all(exec, a, own, own.counted, z, gaussian_reads, context.host_looks);
    }
  }

  /// The magnitude that a share `ratio` of a standard normal distribution exceeds; NaN if ratio >= 1.
  static double quantile(double ratio) {
    if (!(ratio < 1)) return std::numeric_limits<double>::quiet_NaN();
    return boost::math::quantile(boost::math::complement(boost::math::normal(), ratio / 2));
  }

  bool m_paper;
};

Entry gaussian_k() {
  Info info = sparsifier_info("gaussian_k", "top-k by a threshold from a normal distribution, corrected by counting",
                              "Shi, Chu, Cheung & See, Understanding top-k sparsification, 2019",
                              {ratio_parameter(), variant_parameter("searches on the bits of the threshold")});
  info.bytes_formula = "8 kept, kept <= 2 k (variant=paper: no bound), k = sum over segments of max(1, floor(ratio n))";
  return make_entry<GaussianK>(info);
}

}  // namespace gradcomp::compressors

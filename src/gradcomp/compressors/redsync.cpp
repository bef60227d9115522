// redsync: a threshold between the mean and the maximum, found by counting (Fang, Fu, Yang & Hsieh, RedSync: reducing
// synchronization bandwidth for distributed deep learning training system, JPDC 2019).
//
// eta = mu + t (M - mu) with mu = mean |a| and M = max |a|; entries with |a| > eta are sent.
//
// variant=paper has the authors' two searches.
//   search=trimmed  t = 1 - eps, 1 - 2 eps, ... until at least k entries lie above eta; the exact k largest of them are
//                   sent. The authors' loop has no end on zeros and constants. Here it ends if eta reaches 0 or t falls
//                   below -1, and the exact k largest are sent.
//   search=binary   bisection of t in [0, 1] while the interval is longer than eps. It stops if k < count < 2 k, goes
//                   down if count < k / 2, and otherwise up, which is the wrong way for k / 2 <= count <= k. The next
//                   interval - 1 steps use eta again.
//   search=auto     segments below 128 KiB are not compressed (all nonzeros are sent, 8 bytes each), those up to 4 MiB
//                   are trimmed, and larger ones searched by bisection.
// With eps = .2 the bisection can reach only seven values, none below mu + (M - mu) / 8, and eta follows the maximum, a
// single entry. With feedback kept / k therefore wanders between 0 and tens, and nothing bounds it. One read counts the
// entries above the seven values, or above the first eight of trimmed.
//
// variant=fixed (default) searches by counts, at most three reads with eight thresholds each
// (detail/sparse/count_search.hpp), from the last step's threshold on, until k <= kept <= 1.25 k. If that does not
// suffice, up to 2 k are sent; if ties leave no threshold, exactly the k largest. It does not use search, eps and
// interval.
//
// Guards: if there are at most k nonzeros, they are sent as they are. Segments with fewer than max(1024, 2 / ratio)
// elements send exactly k. Memory: eta of each segment.
//
// Payload: that of top_k. Passes: 2 reads and 1 write with the residual; 1 to 3 reads to count; as in top_k, 1 read to
// choose if the last threshold does not help.
#include "gradcomp/compressors/detail/sparse/redsync_steps.hpp"
#include "gradcomp/core/registry.hpp"

namespace gradcomp::compressors {
namespace {

RedsyncPolicy redsync_policy(const ParameterValues& options) {
  const std::string search = options.text("search");
  return {search == "auto", search == "trimmed" ? RedsyncPolicy::Kind::trimmed : RedsyncPolicy::Kind::binary,
          options.real("eps"), static_cast<int>(options.integer("interval"))};
}

}  // namespace

class Redsync final : public Sparsifier {
 public:
  Redsync(Info info, const ParameterValues& options)
      : Sparsifier(std::move(info), options),
        m_policy(redsync_policy(this->options())),
        m_paper(this->options().text("variant") == "paper") {}

 private:
  index_t max_entries(double density, const Segment& segment) const override {
    return max_sent(density, segment.count, m_paper);
  }

  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    return std::make_unique<RedsyncState>(layout, density().ratio(), max_kept(layout), coding(), m_paper);
  }

  void search(const Exec& exec, const Source& source, SparseState& state, const Context& context) const override {
    const auto& own = static_cast<const RedsyncState&>(state);
    if (m_paper) {
      search_published(exec, source, own, m_policy, context.host_looks);
    } else {
      search_counted(exec, source, own, context.host_looks);
    }
  }

  RedsyncPolicy m_policy;
  bool m_paper;
};

Entry redsync() {
  Info info = sparsifier_info(
      "redsync", "top-k by a threshold between mean and maximum, searched by counting",
      "Fang, Fu, Yang & Hsieh, RedSync, JPDC 2019",
      {
          ratio_parameter(),
          variant_parameter("searches on the bits of the threshold, sends k to 1.25 k entries"),
          Parameter::choice("search", "auto", {"auto", "trimmed", "binary"},
                            "variant=paper: the search; auto: no compression below 128 KiB, trimmed up to 4 MiB, "
                            "binary above"),
          Parameter::real("eps", "0.2", 0.01, 0.5, "variant=paper: step of trimmed, shortest interval of binary"),
          Parameter::integer("interval", "5", 1, 1000000,
                             "variant=paper: number of steps that use the same threshold of binary"),
      });
  info.bytes_formula = "8 kept, kept <= 2 k (variant=paper: no bound), k = sum over segments of max(1, floor(ratio n))";
  return make_entry<Redsync>(info);
}

}  // namespace gradcomp::compressors

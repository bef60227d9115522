#include "gradcomp/compressors/redsync.hpp"

#include "gradcomp/compressors/detail/sparse/redsync_steps.hpp"

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
  info.passes = 3;
  return make_entry<Redsync>(info);
}

}  // namespace gradcomp::compressors

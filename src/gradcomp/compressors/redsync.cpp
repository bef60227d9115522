#include "gradcomp/compressors/redsync.hpp"

#include "gradcomp/compressors/detail/count_search.hpp"
#include "gradcomp/compressors/detail/redsync_search.hpp"
#include "gradcomp/compressors/detail/sparsifier.hpp"

namespace gradcomp::compressors {
namespace {

enum class Policy { plain, trimmed, binary };

/// What a segment remembers between steps.
struct RedsyncMemory {
  index_t target = 0;           ///< k of the threshold: another density needs another one
  std::int32_t threshold = -1;  ///< magnitude; -1: none
  std::int32_t steps = 0;       ///< that used it
};

struct RedsyncState final : SparseState {
  RedsyncState(const Layout& bucket, double usual, index_t most, const coders::SparseCoding& coding)
      : SparseState(bucket, usual, most, coding, false, spare_of_searches),
        above(tiles),
        memory(layout.segments.size()),
        probes(layout.segments.size()),
        trimmed(layout.segments.size()),
        binary(layout.segments.size()),
        counted(layout.segments.size()) {}

  Memories memories() override {
    return {{"redsync_thresholds", memory.data(), static_cast<index_t>(memory.size() * sizeof(RedsyncMemory)), true}};
  }
  index_t scratch_bytes() const override { return SparseState::scratch_bytes() + above.bytes(); }

  kernels::CountAbove above;
  std::vector<RedsyncMemory> memory;  ///< [segments], as the rest
  std::vector<kernels::Probes> probes;
  std::vector<TrimmedSearch> trimmed;  ///< done where another search, or none, is made
  std::vector<BinarySearch> binary;
  std::vector<CountSearch> counted;
};

}  // namespace

class Redsync final : public Sparsifier {
 public:
  Redsync(Info info, const Options& options)
      : Sparsifier(std::move(info), options),
        m_search(this->options().text("search")),
        m_eps(this->options().real("eps")),
        m_interval(static_cast<int>(this->options().integer("interval"))),
        m_paper(this->options().text("variant") == "paper") {}

 private:
  index_t most_entries(index_t n) const override { return most_sent(target_kept(density().most(), n), n, m_paper); }

  std::unique_ptr<SparseState> make_state(const Layout& layout) const override {
    return std::make_unique<RedsyncState>(layout, density().ratio(), most_kept(layout), coding());
  }

  void search(const Exec& exec, const Source& source, SparseState& state, const Context&) const override {
    auto& own = static_cast<RedsyncState&>(state);
    if (m_paper) {
      search_as_published(exec, source.accumulated(), own);
    } else {
      search_by_counts(exec, source.accumulated(), own);
    }
  }

  Policy policy(index_t n) const {
    constexpr index_t plain_bytes = 128 * 1024, trimmed_bytes = 4 * 1024 * 1024;
    if (m_search != "auto") return m_search == "trimmed" ? Policy::trimmed : Policy::binary;
    return 4 * n < plain_bytes ? Policy::plain : 4 * n <= trimmed_bytes ? Policy::trimmed : Policy::binary;
  }

  void search_as_published(const Exec& exec, const float* a, RedsyncState& own) const {
    for (std::size_t s = 0; s < own.requests.size(); ++s) {
      own.trimmed[s] = {};
      own.binary[s] = {};
      const index_t n = own.layout.segments[s].count, k = own.target[s];
      if (policy(n) == Policy::plain) choose_above(own.requests[s], 0);
      if (policy(n) == Policy::plain || own.open[s] == 0) continue;
      const RedsyncScale scale(own.first.moments()[s], n);
      const RedsyncMemory& memory = own.memory[s];
      const bool reuse = memory.threshold >= 0 && memory.target == k && memory.steps < m_interval;
      if (policy(n) == Policy::trimmed) {
        own.trimmed[s] = {scale, k, m_eps};
      } else if (!reuse) {
        own.binary[s] = {scale, k, m_eps};
      }
    }
    const auto& shortlist = own.selector.shortlist(own.tiles, own.first);
    search_thresholds(exec, own.above, own.tiles, a, shortlist, own.trimmed, own.probes);
    search_thresholds(exec, own.above, own.tiles, a, shortlist, own.binary, own.probes);
    for (std::size_t s = 0; s < own.requests.size(); ++s) {
      if (own.open[s] == 0) continue;
      own.requests[s].low = own.trimmed[s].bound();
      RedsyncMemory& memory = own.memory[s];
      if (own.binary[s].threshold() >= 0) memory = {own.target[s], own.binary[s].threshold(), 0};
      if (policy(own.layout.segments[s].count) != Policy::binary) continue;
      choose_above(own.requests[s], memory.threshold);
      ++memory.steps;
    }
  }

  static void search_by_counts(const Exec& exec, const float* a, RedsyncState& own) {
    for (std::size_t s = 0; s < own.requests.size(); ++s) {
      own.counted[s] = {};
      if (own.open[s] == 0) continue;
      const index_t k = own.target[s];
      const CountGoal goal{k, k, k + k / 4, 2 * k, 3};
      own.counted[s] = {goal, own.first.moments()[s], own.memory[s].threshold, 0.25};
    }
    search_thresholds(exec, own.above, own.tiles, a, own.selector.shortlist(own.tiles, own.first), own.counted,
                      own.probes);
    for (std::size_t s = 0; s < own.requests.size(); ++s) {
      if (!own.counted[s].threshold()) continue;
      own.memory[s] = {own.target[s], *own.counted[s].threshold(), 0};
      choose_above(own.requests[s], own.memory[s].threshold);
    }
  }

  std::string m_search;
  double m_eps;
  int m_interval;
  bool m_paper;
};

Entry redsync() {
  Info info = sparsifier_info(
      "redsync", "top-k by a threshold between mean and maximum, searched by counting",
      "Fang, Fu, Yang & Hsieh, RedSync, JPDC 2019",
      {
          ratio_parameter(),
          variant_parameter("search on the bits of the threshold, k to 1.25 k entries"),
          Parameter::choice("search", "auto", {"auto", "trimmed", "binary"},
                            "paper; auto: below 128 KiB uncompressed, up to 4 MiB trimmed, above binary"),
          Parameter::real("eps", "0.2", 0.01, 0.5, "paper: step of trimmed, shortest interval of binary"),
          Parameter::integer("interval", "5", 1, 1000000, "paper: steps that use a threshold of binary"),
      });
  info.bytes_formula = "8 kept, kept <= 2 k, k = sum over segments of max(1, floor(ratio n))";
  info.passes = 3;
  return make_entry<Redsync>(info);
}

}  // namespace gradcomp::compressors

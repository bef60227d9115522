#pragma once
// What all methods that send chosen entries share: everything but the choice. A method says, segment by segment, which
// entries it wants (exactly the k largest, or all above a threshold that it searches); feedback, statistics, guards,
// selection, payload, flags and decoding are here.
#include <memory>
#include <vector>

#include "gradcomp/coders/sparse_payload.hpp"
#include "gradcomp/compressors/detail/sparse/density.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/select/top_k.hpp"

namespace gradcomp::compressors {

/// What a method is to search in one segment.
struct Wanted {
  index_t k = 0;
  index_t max_entries = 0;  ///< entries that the segment can send
  std::int32_t small = 0;   ///< 1: too small for an estimate
};

/// Whether a threshold is to be searched, rather than exactly k entries sent, or all nonzeros.
KOKKOS_INLINE_FUNCTION bool is_open(const Wanted& wanted, const kernels::Moments& moments) {
  return moments.nonzeros > wanted.k && wanted.small == 0 && Kokkos::isfinite(moments.sum_abs);
}

/// What kernels of a search see of the segments; a small value type that they capture.
struct Searched {
  const kernels::Moments* moments = nullptr;
  const index_t* elements = nullptr;
  const std::int32_t* open = nullptr;  ///< != 0: search() is to replace the selection by its own
  kernels::Selection* selections = nullptr;
};

/// Work space of one bucket: about 6 (3 ratio + 0.02) n bytes for candidates, 0.03 n for the sample, the payload.
struct SparseState : State {
  /// Of searches that look at counts of up to 2 k.
  static constexpr double spare_of_searches = 2.2;

  /// `usual`: density that is usually kept; `max_entries`: entries that a message may have; `logs`: as FirstPass's;
  /// `spare`: as Selector's.
  SparseState(const Layout& bucket, double usual, index_t max_entries, const coders::SparseCoding& coding,
              bool logs = false, double spare = 1.2);

  index_t scratch_bytes() const override;

  Searched searched() const {
    return {first.on_device().data(), elements.data(), open.data(), selector.selections().data()};
  }
  index_t segments() const { return tiles.segments(); }

  kernels::Tiles tiles;
  kernels::FirstPass first;
  kernels::Selector selector;
  Shared<Wanted> wanted;      ///< [segments] of this step
  Vector<index_t> elements;   ///< [segments]
  Vector<std::int32_t> open;  ///< [segments] as Searched's
  double density = 0;         ///< target of this step
  coders::SparseCoder coder;
  Vector<std::byte> payload;  ///< [payload_capacity()]
};

class Sparsifier : public CompressorOf<SparseState> {
 public:
  Sparsifier(Info info, const ParameterValues& options);
  /// Of a method that declares no `ratio`.
  Sparsifier(Info info, const ParameterValues& options, Density density);

  std::unique_ptr<State> prepare(const Layout& layout) const override;
  index_t payload_capacity(const Layout& layout) const override;
  index_t payload_bytes(const Layout& layout, index_t kept) const override;
  bool has_fixed_bytes() const override;
  index_t max_kept(const Layout& layout) const final;
  void do_produce(const Exec& exec, int round, const Source& source, SparseState& state, const Context& context,
                  Message& message) const override;
  void do_decode_add(const Exec& exec, const Span<const std::byte>& payload, float weight, SparseState& state,
                     const Span<float>& out, Verdict& verdict) const override;

 protected:
  const Density& density() const { return m_density; }
  const coders::SparseCoding& coding() const { return m_coding; }

  /// Entries wanted of a segment at this density. Default: max(1, floor(density n)).
  virtual index_t target(double density, const Segment& segment) const { return target_kept(density, segment.count); }
  /// Most entries that a segment can send. Default: the target of the densest step.
  virtual index_t max_entries(const Segment& segment) const { return target(m_density.max_density(), segment); }
  /// A state with what the method remembers besides.
  virtual std::unique_ptr<SparseState> make_state(const Layout& layout) const;
  /// Whether a target above the nonzeros is filled up with zeros.
  virtual bool sends_zeros() const { return false; }
  /// For the open segments of state.searched(): which entries to choose, in its selections. There a =
  /// source.accumulated() is formed and has more than k nonzeros, and the segment is not small; the others are settled
  /// (exact top-k, or all nonzeros). The selection is an exact top-k until it is replaced. Kernels do all of it: where
  /// the host does not look (Context::host_looks), it knows neither moments nor open segments, and gradients may be
  /// not finite.
  virtual void search(const Exec& exec, const Source& source, SparseState& state, const Context& context) const = 0;
  /// After the choice, unless the step is flagged: state.selector.chosen() says what became of the selections, and the
  /// host may read what kernels shared.
  virtual void record(SparseState& /*state*/) const {}

 private:
  void begin(const Exec& exec, SparseState& state, const Context& context) const;

  void emit(const Exec& exec, const Source& source, SparseState& state, Message& message) const;

  Density m_density;
  coders::SparseCoding m_coding;
};

/// `variant`: the authors' algorithm, or ours (the default), which `fixed` describes.
Parameter variant_parameter(const std::string& fixed);

/// Most entries that a method with an estimated threshold may send of n elements: 2 k, k = target_kept(density, n),
/// past which the exact top k is sent. The authors' algorithms (`paper`) have no bound.
index_t max_sent(double density, index_t n, bool paper);

/// Makes the selection one for all entries above `threshold` >= 0, a magnitude().
KOKKOS_INLINE_FUNCTION void choose_above(kernels::Selection& selection, std::int32_t threshold) {
  selection.exact = false;
  selection.threshold = threshold;
}

/// Info of a sparsifier with the parameters that all have in common, behind `own` ones.
Info sparsifier_info(const std::string& name, const std::string& summary, const std::string& paper,
                     std::vector<Parameter> own);

/// A message that makes all ranks skip the step.
void send_flag(const Exec& exec, State& state, PayloadHeader header, const Span<std::byte>& payload, Message& message);

}  // namespace gradcomp::compressors

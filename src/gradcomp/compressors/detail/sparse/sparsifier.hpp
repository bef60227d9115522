#pragma once
// What all methods that send chosen entries share: everything except the choice. For each segment, a method says which
// entries it wants: exactly the k largest, or all above a threshold that it searches. Feedback, statistics, guards,
// selection, payload, flags and decoding are here.
#include <memory>
#include <vector>

#include "gradcomp/coders/sparse_payload.hpp"
#include "gradcomp/compressors/detail/sparse/density.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/select/top_k.hpp"

namespace gradcomp::compressors {

/// What a method must choose in one segment.
struct Wanted {
  index_t k = 0;
  index_t max_entries = 0;  ///< largest number of entries that the segment can send in this step
  std::int32_t small = 0;   ///< 1: the segment is too small for an estimate
};

/// Whether a threshold must be searched. Otherwise exactly k entries, or all nonzeros, are sent.
KOKKOS_INLINE_FUNCTION bool is_open(const Wanted& wanted, const kernels::Moments& moments) {
  return moments.nonzeros > wanted.k && wanted.small == 0 && Kokkos::isfinite(moments.sum_abs);
}

/// The segments as the kernels of a search see them; a small value type that kernels capture.
struct Searched {
  const kernels::Moments* moments = nullptr;
  const index_t* elements = nullptr;
  const std::int32_t* open = nullptr;  ///< not 0: search() must replace the selection
  kernels::Selection* selections = nullptr;
};

/// Work space of one bucket: about 7 (3 ratio + 0.02) n bytes for candidates, 0.03 n for the sample, and the payload.
struct SparseState : State {
  /// `spare` for searches that read counts of up to 2 k.
  static constexpr double spare_of_searches = 2.2;

  /// `usual`: density that is usually kept. `max_entries`: largest number of entries of a message. `statistics`: what
  /// search() reads of the moments. `spare`: as in Selector.
  SparseState(const Layout& bucket, double usual, index_t max_entries, const coders::SparseCoding& coding,
              kernels::Statistics statistics = kernels::Statistics::sums, double spare = 1.2);

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
  Vector<std::int32_t> open;  ///< [segments] as in Searched
  double density = 0;         ///< target of this step
  coders::SparseCoder coder;
  Vector<std::byte> payload;  ///< [payload_capacity()]
};

class Sparsifier : public Compressor {
 public:
  Sparsifier(Info info, const ParameterValues& options);
  /// For a method that has no parameter `ratio`.
  Sparsifier(Info info, const ParameterValues& options, Density density);

  std::unique_ptr<State> prepare(const Layout& layout) const override;
  index_t payload_capacity(const Layout& layout) const override;
  index_t payload_bytes(const Layout& layout, index_t kept) const override;
  index_t max_kept(const Layout& layout) const final;
  Message produce(const Exec& exec, int round, const Step& step, State& state) const override;
  void decode_add(const Exec& exec, const Received& received, State& state, const Span<float>& out) const override;
  void decode_sum(const Exec& exec, std::span<const Received> messages, State& state,
                  const Span<float>& out) const override;

 protected:
  const Density& density() const { return m_density; }
  const coders::SparseCoding& coding() const { return m_coding; }

  /// Number of entries wanted of a segment at this density. Default: max(1, floor(density n)).
  virtual index_t target(double density, const Segment& segment) const { return target_kept(density, segment.count); }
  /// Largest number of entries that a segment can send at this density. Default: the target.
  virtual index_t max_entries(double density, const Segment& segment) const { return target(density, segment); }
  /// Makes a state with what the method remembers in addition.
  virtual std::unique_ptr<SparseState> make_state(const Layout& layout) const;
  /// Whether zeros are sent if the target exceeds the number of nonzeros.
  virtual bool sends_zeros() const { return false; }
  /// Chooses the entries of the open segments of state.searched(), by writing their selections. In an open segment, a =
  /// source.accumulated() is formed and has more than k nonzeros, and the segment is not small. The other segments are
  /// settled: they send the exact top k, or all nonzeros. A selection is an exact top k until it is replaced. Kernels
  /// do all of this: if the host does not look (Context::host_looks), it knows neither the moments nor which segments
  /// are open, and the gradient may contain numbers that are not finite.
  virtual void search(const Exec& exec, const Source& source, SparseState& state, const Context& context) const = 0;
  /// For a method whose info says that it does not send values as they are (Info::sends_values): replaces values[0 ..
  /// kept), the elements of a at indices[0 .. kept) (device), by what it sends. The memory keeps the rest, a - decoded.
  virtual void change_values(const Exec& /*exec*/, const std::uint32_t* /*indices*/, float* /*values*/,
                             index_t /*kept*/, SparseState& /*state*/) const {}
  /// Called after the choice, unless the step is flagged. state.selector.chosen() says what became of the selections,
  /// and the host may read what kernels shared.
  virtual void record(SparseState& /*state*/) const {}

 private:
  void begin(const Exec& exec, SparseState& state, const Context& context) const;

  Message emit(const Exec& exec, const Source& source, SparseState& state) const;

  Density m_density;
  coders::SparseCoding m_coding;
};

/// The parameter `variant`: the authors' algorithm (paper), or ours (fixed, the default), which `fixed` describes.
Parameter variant_parameter(const std::string& fixed);

/// Largest number of entries that a method with an estimated threshold may send of n elements: 2 k, with k =
/// target_kept(density, n); if more lie above the threshold, the exact top k is sent. The authors' algorithms (`paper`)
/// have no bound.
index_t max_sent(double density, index_t n, bool paper);

/// Makes the selection one of all entries above `threshold` >= 0, which is a magnitude().
KOKKOS_INLINE_FUNCTION void choose_above(kernels::Selection& selection, std::int32_t threshold) {
  selection.exact = false;
  selection.threshold = threshold;
}

/// Info of a sparsifier, with `own` and then the parameters that all sparsifiers have.
Info sparsifier_info(const std::string& name, const std::string& summary, const std::string& paper,
                     std::vector<Parameter> own);

/// The message of a rank whose gradient is not finite: a header alone.
Message send_flag(const Exec& exec, State& state, PayloadHeader header, const Span<std::byte>& payload);

}  // namespace gradcomp::compressors

#pragma once
// What the variants of PowerSGD share: the buffers of a bucket, flags, and the dense steps before start_step.
//
// The message of the first round holds the factors of all matrices and then the elements of the segments that are not
// factored. In the steps before start_step it holds every element, as if no segment were factored; the second round is
// then empty. A factor is stored column after column. Matrices come in the order of the bucket, those that are viewed
// transposed behind the others.
#include <memory>

#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/lanes/elementwise.hpp"
#include "gradcomp/kernels/low_rank/low_rank_oriented.hpp"

namespace gradcomp::compressors {

/// Options of all variants.
struct LowRankRule {
  explicit LowRankRule(const ParameterValues& options);

  int rank;
  double min_rate;
  index_t start_step;
  bool householder;
  bool by_outputs;  ///< the rows of a matrix are outputs, as in the authors' code

  /// A segment is a matrix of all extents but the last x the last. Returns whether it is used transposed.
  bool transposes(const Segment& segment) const { return by_outputs && !segment.outputs_first; }
};

/// Number of floats in all P, in all Q and in dense segments.
struct FactorCounts {
  index_t p = 0, q = 0, dense = 0;
};

struct LowRankState : State {
  /// `max_floats`: largest number of factor floats in the first message.
  LowRankState(const Layout& bucket, const LowRankRule& rule, index_t max_floats);

  index_t scratch_bytes() const override;
  /// The parts of a first message: sent() are the factors, dense() the elements of dense segments.
  Span<float> sent(const Vector<float>& message) const { return subspan(Span<float>(message), 0, factors); }
  Span<float> dense(const Vector<float>& message) const {
    return subspan(Span<float>(message), factors, plan.dense_count());
  }

  /// This rank's gradient is not finite.
  Mark bad() const { return {marks.data()}; }
  /// A sum over ranks is not finite: the memory keeps a, and kept factors stay as they are.
  Mark lost() const { return {marks.data() + 1}; }

  kernels::OrientedLowRank plan;
  kernels::LowRankPlan whole;   ///< of the dense steps: nothing is factored; empty if there are no such steps
  Vector<float> own, sum;       ///< first message of this rank and its sum; at least n floats if there are dense steps
  Vector<std::uint32_t> marks;  ///< [2] of bad() and lost()
  index_t factors = 0;          ///< number of factor floats in the first message of this step
  bool is_dense = false;        ///< this step comes before start_step
};

class LowRankMethod : public Compressor {
 public:
  LowRankMethod(Info info, ParameterValues options);

  index_t payload_bytes(const Layout& layout, index_t kept) const final;
  Message produce(const Exec& exec, int round, const Step& step, State& state) const final;
  void consume(const Exec& exec, int round, const Message& message, const Step& step, State& state) const final;
  void finish(const Exec& exec, const Step& step, State& state) const final;

 protected:
  const LowRankRule& rule() const { return m_rule; }
  FactorCounts counts(const Layout& layout) const;
  /// Replaces the columns of all matrices by orthonormal ones.
  void orthonormalise(const Exec& exec, const Vector<kernels::ColumnMatrix>& columns, const Span<float>& data) const;

  /// Largest number of factor floats that a step sends.
  virtual index_t max_factors(const FactorCounts& counts) const = 0;
  /// First touch of the source: fills the first message and sets state.factors.
  virtual void project(const Exec& exec, const Source& source, LowRankState& state, const Context& context) const = 0;
  /// Called when state.sum is complete; it may still contain numbers that are not finite.
  virtual void summed(const Exec&, LowRankState&) const {}
  /// Makes the second message.
  virtual Message project_back(const Exec&, const Source&, LowRankState&) const { return {}; }
  /// out = the product of the factors, and the dense elements, both times `share` = 1 / ranks; memory = a - out. The
  /// memory and the kept factors stay as they are if state.lost() is set.
  virtual void reconstruct(const Exec& exec, const Source& source, LowRankState& state, float share,
                           const Span<float>& out) const = 0;

 private:
  LowRankRule m_rule;
};

// The variants, from which powersgd.cpp chooses.
std::unique_ptr<Compressor> make_two_sided(const Info& info, const ParameterValues& options);
std::unique_ptr<Compressor> make_one_sided(Info info, const ParameterValues& options);
std::unique_ptr<Compressor> make_unbiased_low_rank(Info info, const ParameterValues& options);

}  // namespace gradcomp::compressors

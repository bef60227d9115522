#pragma once
// What the quantisers with integer sums share (global_qsgd, terngrad): all ranks measure in the same scales, so that
// levels can be added on their way.
//
// Round 0: f32 maximum of the ranks' scales, one for each group. Round 1: sum of the ranks' levels, each -s .. s, as
// i8 or in fields of i32 (kernels/pack/packed_levels.hpp), with s W <= 127 (4 bits: 7, 16 bits: 32767): no sum of any
// number of ranks on its way can wrap. out = scale / (s W) * sum. A rank whose gradient is not finite sends +infinity
// as its first scale: the maximum shows it to all ranks, which send zeros and skip the step.
#include <cmath>
#include <memory>
#include <utility>

#include "gradcomp/compressors/detail/levels/coded.hpp"
#include "gradcomp/core/registry.hpp"
#include "gradcomp/kernels/pack/packed_levels.hpp"
#include "gradcomp/kernels/quantise/level_codes.hpp"

namespace gradcomp::compressors {

/// Work space of one bucket: own levels and their sums beside the scales. Nothing persists between steps.
struct SummedState final : State {
  SummedState(const Layout& bucket, index_t length, int field_bits);
  index_t scratch_bytes() const override;

  kernels::CodePlan plan;
  kernels::GroupRanges ranges;
  Vector<float> own, offered, shared, sent;  ///< [groups] of this rank, its message, the maximum, of level s
  int bits;                                  ///< 4, 8 or 16
  Vector<std::int8_t> codes, sums;           ///< [n], of 8 bits
  kernels::PackedLevels packed;              ///< of the others
  Vector<std::int32_t> words, word_sums;
  kernels::LinearCodec codec;  ///< of the running step
  double factor = 1;           ///< what is decoded of a level: less than 1 where a feedback needs it
  Tally non_finite;            ///< elements of this rank's gradient
  Tally skip;                  ///< shared scales that are none: some rank flagged the running step
};

/// The steps that do not depend on the method.
void offer_scales(const Exec& exec, SummedState& state, Message& message);
/// Looks at the maximum: state.skip where one is no scale.
void check_shared(const Exec& exec, SummedState& state);
void send_levels(const Exec& exec, SummedState& state, const Source& source, const Context& context, Message& message);
void finish_levels(const Exec& exec, const SummedState& state, const Context& context, const Span<float>& out,
                   Verdict& verdict);
void return_levels(const Exec& exec, const SummedState& state, const Source& source);

/// A method is a Scheme:
///   index_t length; Scales scales            as in detail/levels/coded.hpp, one word
///   int sum_bits                             of a sum of levels: 4, 8 or 16
///   static constexpr int max_levels         s of one rank; of W ranks: min(max_levels, (2^(sum_bits - 1) - 1) / W)
///   double excess(levels, n)                 w for n elements; remedy as in detail/levels/coded.hpp
template <class Scheme>
class SummedLevels final : public CompressorOf<SummedState> {
 public:
  SummedLevels(Info info, ParameterValues options)
      : CompressorOf(std::move(info), std::move(options)), m_scheme(Scheme::from(this->options())) {}

  std::unique_ptr<State> prepare(const Layout& layout) const override {
    return std::make_unique<SummedState>(layout, m_scheme.length, m_scheme.sum_bits);
  }
  index_t payload_capacity(const Layout&) const override { return 0; }
  index_t payload_bytes(const Layout& layout, index_t) const override {
    const index_t levels =
        m_scheme.sum_bits == 8 ? layout.count() : 4 * kernels::packed_words(layout, m_scheme.sum_bits);
    return 4 * kernels::group_count(layout, m_scheme.length) + levels;
  }

  void do_produce(const Exec& exec, int round, const Source& source, SummedState& own, const Context& context,
                  Message& message) const override {
    if (round == 0) {
      const int max_sum = kernels::max_summed(m_scheme.sum_bits);
      require(context.ranks <= max_sum, "{}: sums of {} bits hold the levels of {} ranks at most, there are {}",
              info().name, m_scheme.sum_bits, max_sum, context.ranks);
      own.codec.levels = std::min(Scheme::max_levels, max_sum / context.ranks);
      own.factor = factor(source, own, context);
      own.non_finite.clear(exec);
      own.ranges.run(exec, source, own.non_finite);
      write_scales(exec, m_scheme, own.ranges.ranges(), false, Span<float>(own.own), own.offered.data());
      return offer_scales(exec, own, message);
    }
    send_levels(exec, own, source, context, message);
  }

  void do_consume(const Exec& exec, int round, const Message&, SummedState& state, const Context&) const override {
    if (round == 0) check_shared(exec, state);
  }
  void do_finish(const Exec& exec, const Source&, SummedState& state, const Context& context, const Span<float>& out,
                 Verdict& verdict) const override {
    finish_levels(exec, state, context, out, verdict);
  }
  void do_give_back(const Exec& exec, const Source& source, SummedState& state, const Message&,
                    const Span<const float>&) const override {
    return_levels(exec, state, source);
  }

 private:
  /// 1 / (1 + w) with a feedback, w of all ranks' elements together, since the scale is at most their common norm.
  double factor(const Source& source, const SummedState& state, const Context& context) const {
    if (!source.has_memory()) return 1;
    index_t longest = m_scheme.length;
    for (const auto& segment : state.layout.segments)
      longest = m_scheme.length > 0 ? longest : std::max(longest, segment.count);
    const double w = m_scheme.excess(state.codec.levels, static_cast<double>(longest) * context.ranks);
    if (m_scheme.shrinks) return 1 / (1 + w);
    require(w < 1, "{}: an error of up to {:.3g} ||a||^2 may diverge with a feedback; allowed: {} or feedback=none",
            info().name, w, Scheme::remedy);
    return 1;
  }

  Scheme m_scheme;
};

}  // namespace gradcomp::compressors
